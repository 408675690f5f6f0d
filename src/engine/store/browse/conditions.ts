/**
 * The conditions of a list with optional filters. Only those that were asked for are written: "$1 is null or …" would keep the planner from
 * the index of a filter, and from beginning where the page before ended.
 */
export interface Conditions {
  /** `text` takes the number of each value's parameter. */
  add(values: readonly unknown[], text: (...places: string[]) => string): void;
  /** Adds it where the value is given. */
  given<T>(value: T | undefined, text: (place: string) => string): void;
  /** A parameter that stands elsewhere in the statement. */
  place(value: unknown): string;
  readonly params: unknown[];
  sql(): string;
}

/** `params` are those of a statement that these conditions are a part of. */
export function conditions(params: unknown[] = []): Conditions {
  const texts: string[] = [];
  const place = (value: unknown) => `$${params.push(value)}`;
  const add: Conditions["add"] = (values, text) => void texts.push(text(...values.map(place)));
  return {
    add,
    given: (value, text) => {
      if (value !== undefined) add([value], text);
    },
    place,
    params,
    sql: () => texts.join(" and "),
  };
}

/** Of a fact or rule: who found it in what was said; of one that was told, by what. As the index of facts has it. */
export const foundBy = (by: string): string =>
  `(case when source like 'consolidation:%' then metadata #>> '{learned,by}' else source end) = ${by}`;
