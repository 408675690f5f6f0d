/** Laws of butler.toml: what is valid comes back as it was written, and a slip of one letter is understood. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkButlerToml, parseButlerToml } from "../../src/daemon/config/config.ts";
import { faultText } from "../../src/daemon/config/faults.ts";
import { configSchema, wordsFor } from "../../src/daemon/config/json-schema.ts";
import { configKeys, configTables, keysOf, type Path, valueAt } from "../../src/daemon/config/keys.ts";
import { ownLine } from "../../src/daemon/config/lines.ts";
import { isTenantName } from "../../src/engine/domain/tenant.ts";
import { editDistance } from "../../src/engine/domain/text/spelling.ts";

const share = fc.integer({ min: 0, max: 100 }).map((n) => n / 100);
const count = fc.integer({ min: 1, max: 100_000 });
const days = fc.integer({ min: 1, max: 40_000 }).map((n) => n / 4);
const words = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 });
const variable = fc.constantFrom("BUTLER_SERVICE_TOKEN", "MY_TOKEN", "_x");
const price = fc.integer({ min: 0, max: 1_000 }).map((n) => n / 8);

/** Values by the end of a key's name; the longest end that fits is taken. */
const VALUES: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  "butler.name": fc.stringMatching(/^[a-z][a-z0-9_-]{0,31}$/),
  role: fc.constant("butler"),
  tenant: words.filter((name) => name !== "*" && isTenantName(name)),
  description: words,
  cron: fc.constantFrom("0 3 * * *", "*/5 * * * *", "0 0 1 1 *"),
  prompt: words,
  enabled: fc.boolean(),
  command: words,
  args: fc.array(fc.constantFrom("-p", "{prompt}", "--x={system}", '{"a": [1]}', "a # b", "]", "it's"), {
    maxLength: 4,
  }),
  "runtime.timeout_seconds": fc.integer({ min: 1, max: 86_400 }),
  env: fc.dictionary(fc.stringMatching(/^[A-Z_][A-Z0-9_]{0,8}$/), words, { maxKeys: 3 }),
  service: fc.constantFrom("http://127.0.0.1:4270/butlers/memory", "https://example.org/x/mcp"),
  service_token_env: variable,
  service_token_file: fc.constantFrom("/run/secrets/token", "/etc/butler/token"),
  embedding_model: fc.constant("all-MiniLM-L6-v2"),
  embedding_dimensions: fc.constant(384),
  notices: fc.boolean(),
  embedding_variant: fc.constantFrom("int8", "fp32"),
  default_ttl_days: days,
  unlearned_grace_days: days,
  min_relevance: share,
  protection_threshold: count,
  ttl_days: days,
  ttl_hours: days,
  max_entries: count,
  retrieval_confidence_threshold: share.map((n) => 0.5 + n / 2),
  expiry_confidence_threshold: share.map((n) => n / 5),
  min_successes: count,
  min_effectiveness: share,
  max_effectiveness: share,
  min_age_days: days,
  min_harmful: count,
  default_limit: fc.integer({ min: 1, max: 200 }),
  default_mode: fc.constantFrom("hybrid", "semantic", "keyword"),
  context_token_budget: fc.integer({ min: 1, max: 100_000 }),
  tokenizer: fc.constantFrom("o200k_base", "cl100k_base"),
  "score_weights.relevance": fc.constant(0.4),
  "score_weights.importance": fc.constant(0.3),
  "score_weights.recency": fc.constant(0.2),
  "score_weights.confidence": fc.constant(0.1),
  "quotas.profile": share.map((n) => n / 4),
  "quotas.facts": share.map((n) => n / 4),
  "quotas.rules": share.map((n) => n / 5),
  "quotas.episodes": share.map((n) => n / 5),
  rerank: fc.constantFrom("late-interaction", "cross-encoder", "none"),
  rerank_model: words,
  rerank_model_sha256: fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: 64, maxLength: 64 }),
  diversify: fc.boolean(),
  intent_routing: fc.boolean(),
  vector_index: fc.constantFrom("auto", "none", "ivfflat", "hnsw"),
  promote_after_refs: count,
  promote_from_sessions: count,
  promote_after_hours: days,
  promote_on_days: count,
  promote_after_days: days,
  provider: fc.constantFrom("local", "anthropic", "openai-compatible", "claude-cli"),
  model: words,
  base_url: fc.constantFrom("http://127.0.0.1:11434/v1", "https://example.org"),
  api_key_env: variable,
  daily_budget_usd: price,
  "extractor.timeout_seconds": fc.integer({ min: 1, max: 140 }),
  input_price: price,
  output_price: price,
  prefilter: fc.boolean(),
  redact: fc.boolean(),
  keep_kinds: fc.subarray(["card", "jwt", "iban"]),
  also: fc.subarray(["email", "phone"]),
  keep_days: fc.integer({ min: 1, max: 999 }),
  keep_reads_days: fc.integer({ min: 1, max: 999 }),
  lease_seconds: fc.integer({ min: 1, max: 3600 }),
  encrypt_predicates: fc.subarray(["diagnosis", "salary"]),
  encryption_key_env: fc.constantFrom("BUTLER_ENCRYPTION_KEY", "OWN_KEY"),
  encryption_key_file: fc.constantFrom("/keys/one", "/keys/two"),
  "privacy.patterns": fc.subarray([
    { name: "customer", pattern: "KD-[0-9]{8}" },
    { name: "case_file", pattern: "AZ [0-9]{1,4}/[0-9]{2}" },
  ]),
};

const valueFor = (path: Path): fc.Arbitrary<unknown> => {
  const key = path.join(".");
  const ends = Object.keys(VALUES).filter((end) => key === end || key.endsWith(`.${end}`));
  const end = ends.sort((a, b) => b.length - a.length)[0];
  if (end === undefined) throw new Error(`no values for ${key}`);
  return VALUES[end] as fc.Arbitrary<unknown>;
};

type Leaf = readonly [Path, unknown];

const alwaysThere = (path: Path) => path.join(".") === "butler.name";

/** Some keys with values; a job that has a key has its cron line too. */
const leaves: fc.Arbitrary<Leaf[]> = fc
  .tuple(
    ...configKeys.map(({ path }) =>
      fc.tuple(
        fc.constant(path),
        valueFor(path),
        alwaysThere(path) ? fc.constant(true) : fc.integer({ min: 0, max: 2 }).map((n) => n === 0),
      ),
    ),
  )
  .map((all) => {
    const chosen = all.filter(([, , there]) => there).map(([path]) => path);
    const needed = (path: Path) =>
      path.at(-1) === "cron" && chosen.some((other) => other.slice(0, -1).join() === path.slice(0, -1).join());
    return all.filter(([path, , there]) => there || needed(path)).map(([path, value]): Leaf => [path, value]);
  });

const bare = (key: string) => (/^[\w-]+$/.test(key) ? key : JSON.stringify(key));

function toml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((member) => `\n  ${toml(member)}, # one of [several]`).join("")}\n]`;
  if (typeof value === "object" && value !== null)
    return `{ ${Object.entries(value)
      .map(([key, member]) => `${bare(key)} = ${toml(member)}`)
      .join(", ")} }`;
  return JSON.stringify(value);
}

type Style = "tables" | "dotted" | "inline";

/** A text with the line on which each key stands. */
function write(all: readonly Leaf[], style: Style): { text: string; lines: Map<string, number> } {
  const rows: string[] = ["# [butler] = 1"];
  const lines = new Map<string, number>();
  const push = (path: Path, row: string) => {
    lines.set(path.join("."), rows.length + 1);
    rows.push(...row.split("\n"));
  };
  if (style === "dotted") for (const [path, value] of all) push(path, `${path.join(" . ")} = ${toml(value)}`);
  if (style === "tables") {
    const groups = new Map<string, Leaf[]>();
    for (const leaf of all) {
      const table = leaf[0].slice(0, -1).join(".");
      groups.set(table, [...(groups.get(table) ?? []), leaf]);
    }
    for (const [table, members] of groups) {
      rows.push("", `[ ${table} ]`);
      for (const [path, value] of members) push(path, `  ${path.at(-1)} = ${toml(value)} # "why"`);
    }
  }
  if (style === "inline") {
    for (const room of ["butler", "modules"]) {
      const members = all.filter(([path]) => path[0] === room);
      if (members.length === 0) continue;
      rows.push(`${room} = {`);
      for (const [path, value] of members) push(path, `${path.slice(1).join(".")} = ${toml(value)},`);
      rows[rows.length - 1] = (rows.at(-1) ?? "").replace(/,$/, "");
      rows.push("}");
    }
  }
  return { text: rows.join("\n"), lines };
}

const whole = (config: ReturnType<typeof parseButlerToml>) => {
  const { memory, ...butler } = config;
  return { butler, modules: { memory } };
};

describe("a valid butler.toml", () => {
  test("comes back as it was written, every key with its line, in each way to write it", () => {
    fc.assert(
      fc.property(leaves, fc.constantFrom<Style>("tables", "dotted", "inline"), (all, style) => {
        const { text, lines } = write(all, style);
        const checked = checkButlerToml(text, "x/butler.toml");
        if (!checked.ok) throw new Error(`${checked.faults.map(faultText).join("\n")}\n${text}`);
        for (const [path, value] of all) {
          expect(valueAt(whole(checked.config), path)).toEqual(value);
          expect(ownLine(checked.written.lines, path)).toBe(lines.get(path.join(".")));
        }
      }),
      { numRuns: 150 },
    );
  });

  test("with everything that holds written out is the same butler", () => {
    fc.assert(
      fc.property(leaves, (all) => {
        const config = parseButlerToml(write(all, "tables").text, "x/butler.toml");
        const everything = configKeys
          .map(({ path }): Leaf => [path, valueAt(whole(config), path)])
          .filter(([, value]) => value !== undefined);
        expect(parseButlerToml(write(everything, "tables").text, "x/butler.toml")).toEqual(config);
      }),
      { numRuns: 50 },
    );
  });
});

const LETTERS = "abcdefghijklmnopqrstuvwxyz_0";

/** One letter left out, put in, changed, or swapped with its neighbour. */
const slip = (word: string): fc.Arbitrary<string> =>
  fc
    .record({
      at: fc.nat(word.length - 1),
      letter: fc.constantFrom(...LETTERS),
      how: fc.constantFrom("out", "in", "change", "swap"),
    })
    .map(({ at, letter, how }) => {
      const [before, here, after] = [word.slice(0, at), word[at] ?? "", word.slice(at + 1)];
      if (how === "out") return before + after;
      if (how === "in") return before + letter + here + after;
      if (how === "change") return before + letter + after;
      return before + after.slice(0, 1) + here + after.slice(1);
    });

const everyKey = configTables.flatMap(({ path, keys }) => keys.map((key) => [...path, key]));

test("a slip of one letter is refused by name, and the right key is suggested", () => {
  const slips = fc
    .constantFrom(...everyKey)
    .chain((path) => fc.tuple(fc.constant(path), slip(path.at(-1) ?? "")))
    .filter(([path, wrong]) => wrong !== "" && !keysOf(path.slice(0, -1)).includes(wrong));
  fc.assert(
    fc.property(slips, ([path, wrong]) => {
      const table = path.slice(0, -1);
      const row = table.length === 0 ? `[${wrong}]` : `${[...table, wrong].join(".")} = 1`;
      const checked = checkButlerToml(`butler.name = "x"\n${row}\n`, "x/butler.toml");
      const told = checked.ok ? [] : checked.faults.filter(({ key }) => key === [...table, wrong].join("."));
      expect(told).toHaveLength(1);
      expect(told[0]?.message).toMatch(new RegExp(`not known here, .*; did you mean "${path.at(-1)}"\\?$`));
      expect(told[0]?.line).toBe(2);
    }),
    { numRuns: 600 },
  );
});

test("the distance of words counts slips", () => {
  const word = fc.stringMatching(/^[a-e]{0,6}$/);
  fc.assert(
    fc.property(word, word, (a, b) => {
      expect(editDistance(a, b)).toBe(editDistance(b, a));
      expect(editDistance(a, b) === 0).toBe(a === b);
      expect(editDistance(a, b)).toBeLessThanOrEqual(Math.max(a.length, b.length));
      expect(editDistance(a, b)).toBeGreaterThanOrEqual(Math.abs(a.length - b.length));
    }),
  );
  expect(editDistance("nmae", "name")).toBe(1);
});

describe("the JSON schema", () => {
  test("has every key, each with words, and allows no other", () => {
    for (const path of everyKey) expect(wordsFor(path.join(".")), path.join(".")).toMatch(/^.*\.$/);
    for (const { path } of configTables) {
      const inside = path.flatMap((step) => ["properties", step]);
      const table = valueAt(configSchema(), inside) as { additionalProperties: unknown; properties: object };
      expect(table.additionalProperties).toBe(false);
      expect(Object.keys(table.properties)).toEqual(keysOf(path));
    }
  });

  test("says what is needed and what holds otherwise", () => {
    const at = (...path: string[]) => valueAt(configSchema(), path);
    expect(at("required")).toEqual(["butler"]);
    expect(at("properties", "butler", "required")).toEqual(["name"]);
    expect(at("properties", "butler", "properties", "runtime", "properties", "timeout_seconds", "default")).toBe(1800);
    expect(at("properties", "modules", "properties", "memory", "default")).toEqual({ enabled: false });
  });
});
