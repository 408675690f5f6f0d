/** Writes a value as people write settings files: with comments, trailing commas, tabs, empty lines, or all on one line. */
import fc from "fast-check";

export interface Writing {
  readonly unit: string;
  readonly eol: string;
  readonly inline: boolean;
  readonly comments: boolean;
  readonly trailing: boolean;
  readonly end: string;
}

const base = {
  unit: fc.constantFrom("  ", "    ", "\t"),
  eol: fc.constantFrom("\n", "\r\n"),
  inline: fc.boolean(),
  end: fc.constantFrom("", "\n"),
};

export const writing: fc.Arbitrary<Writing> = fc.record({ ...base, comments: fc.boolean(), trailing: fc.boolean() });
export const plainWriting: fc.Arbitrary<Writing> = fc.record({
  ...base,
  comments: fc.constant(false),
  trailing: fc.constant(false),
});

export function settingsText(value: unknown, style: Writing): string {
  return `${written(value, style, "")}${style.end}`;
}

function written(value: unknown, style: Writing, indent: string): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const list = Array.isArray(value);
  const [open, close] = list ? ["[", "]"] : ["{", "}"];
  const inner = `${indent}${style.unit}`;
  const parts = Object.entries(value).map(([key, item]) => {
    const text = written(item, style, style.inline ? indent : inner);
    return list ? text : `${JSON.stringify(key)}: ${text}`;
  });
  if (style.inline) {
    const note = style.comments && parts.length === 0 ? " /* none */ " : "";
    return `${open}${note}${parts.join(", ")}${style.trailing && parts.length > 0 ? "," : ""}${close}`;
  }
  const note = (index: number) => (style.comments ? ` // note ${index}, of "this"` : "");
  const lines = parts.map((part, index) => {
    const comma = index < parts.length - 1 || style.trailing ? "," : "";
    return `${inner}${part}${comma}${note(index)}`;
  });
  if (lines.length === 0) return style.comments ? `${open} // empty${style.eol}${indent}${close}` : `${open}${close}`;
  return [open + (style.comments ? " /* top */" : ""), ...lines, `${indent}${close}`].join(style.eol);
}

const TRIVIA = ["", "", " ", "\n", "\n  ", "\t", "\r\n\t", " /* c, } */ ", " // c ] \n", "\n\n/* a\n b */"];

/** The same value with any white space and any comments between any two tokens; `choices` says which. */
export function looseText(value: unknown, choices: readonly number[]): string {
  let turn = 0;
  const gap = () => TRIVIA[(choices[turn++ % choices.length] ?? 0) % TRIVIA.length];
  const trailing = () => ((choices[turn++ % choices.length] ?? 0) % 3 === 0 ? `,${gap()}` : "");
  const token = (inner: unknown): string => {
    if (typeof inner !== "object" || inner === null) return JSON.stringify(inner);
    const list = Array.isArray(inner);
    const parts = Object.entries(inner).map(([key, item]) =>
      list ? token(item) : `${JSON.stringify(key)}${gap()}:${gap()}${token(item)}`,
    );
    const body = parts.map((part) => `${gap()}${part}${gap()}`).join(",");
    return `${list ? "[" : "{"}${body}${parts.length > 0 ? trailing() : gap()}${list ? "]" : "}"}`;
  };
  return `${gap()}${token(value)}${gap()}`;
}

export const choices = fc.array(fc.nat(29), { minLength: 1, maxLength: 60 });
