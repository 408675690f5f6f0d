/** How the words of `butler bench` are read. */
import { invalid } from "../engine/domain/errors.ts";
import { type Context, readOptions } from "../main/program/command.ts";

export const text = { type: "string" } as const;
export const flag = { type: "boolean" } as const;

export const takeFill = (args: readonly string[]) => ({
  fill: args.includes("--fill"),
  rest: args.filter((word) => word !== "--fill"),
});

export function benchHomeOptions(args: readonly string[], context: Context) {
  const options = { n: text, queries: text, store: text, keep: text, json: flag } as const;
  const { n = "10000", queries = "200", store, keep, json = false } = readOptions(args, options).values;
  const counts = { n: readCount(n, "--n", 100), queries: readCount(queries, "--queries", 1) };
  return { ...counts, databaseUrl: serverOf(store, context), keep, json };
}

export function serverOf(store = "pglite", { environment }: Context): string | undefined {
  if (store === "pglite") return undefined;
  if (store !== "postgres") throw invalid("store", `--store is "${store}"; it must be pglite or postgres.`);
  if (environment.databaseUrl === undefined) throw invalid("store", "--store postgres needs BUTLER_DATABASE_URL.");
  return environment.databaseUrl;
}

export function readCount(text: string, name: string, least: number): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= least) return count;
  throw invalid(name, `${name} is "${text}"; it must be a whole number from ${least} up.`);
}
