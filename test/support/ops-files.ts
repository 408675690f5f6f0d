/** Reads what the tests need of the files in `ops`, without a library for YAML or PromQL. */
export interface Alert {
  readonly name: string;
  readonly expr: string;
  /** The rest of the rule: its labels and annotations. */
  readonly body: string;
}

export function alertsOf(yaml: string): Alert[] {
  return yaml
    .split(/^ {6}- alert: /m)
    .slice(1)
    .map((rule) => {
      const [, name = "", expr = "", body = ""] =
        /^(\S+)\n {8}expr: (?:\|\n)?([\s\S]*?)\n(?= {8}\w)([\s\S]*)$/.exec(rule) ?? [];
      return { name, expr: expr.replace(/\s+/g, " ").trim(), body };
    });
}

const WORDS = new Set(["and", "or", "by", "on", "sum", "count", "rate", "increase", "time", "without", "ignoring"]);

/** The metrics of an expression, each with the labels by which it is chosen. */
export function metricsIn(expr: string): { readonly name: string; readonly asked: readonly string[] }[] {
  const plain = expr.replace(/\b(?:by|on|without|ignoring) \([^)]*\)/g, " ");
  const found = plain.matchAll(/(?<![\w"{=~|.])([a-z_][a-z0-9_]*)\b(?!\s*[(=!"|])(?:\{([^}]*)\})?/g);
  return [...found].flatMap(([, name = "", labels = ""]) => {
    if (WORDS.has(name) || name === "histogram_quantile") return [];
    return [{ name, asked: [...labels.matchAll(/(\w+)\s*(?:=~|!=|=)/g)].map(([, label = ""]) => label) }];
  });
}
