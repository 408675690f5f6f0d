/** The tables and keys of a `butler.toml`, read from its schema, and which of them a misspelt key was meant to be. */
import { z } from "zod";
import { editDistance, plainName, reachOf } from "../../engine/domain/text/spelling.ts";
import { ButlerToml } from "./schema.ts";

export type Path = readonly string[];

export interface Key {
  readonly path: Path;
  /** A table with free names, such as the environment of a command. */
  readonly open: boolean;
}

interface Table {
  readonly path: Path;
  readonly keys: readonly string[];
}

const tables: Table[] = [];
const leaves: Key[] = [];
survey(ButlerToml, []);

function survey(schema: unknown, path: Path): void {
  const inside = unwrap(schema);
  if (!(inside instanceof z.ZodObject)) {
    leaves.push({ path, open: inside instanceof z.ZodRecord });
    return;
  }
  tables.push({ path, keys: Object.keys(inside.shape) });
  for (const [key, below] of Object.entries(inside.shape)) survey(below, [...path, key]);
}

function unwrap(schema: unknown): unknown {
  let here = schema;
  while (here instanceof z.ZodOptional || here instanceof z.ZodDefault || here instanceof z.ZodPrefault)
    here = here.unwrap();
  return here;
}

/** Every key that holds a value, in the order of the schema. */
export const configKeys: readonly Key[] = leaves;
export const configTables: readonly Table[] = tables;

const samePath = (a: Path, b: Path) => a.length === b.length && a.every((step, at) => step === b[at]);

export const keysOf = (path: Path): readonly string[] => tables.find((table) => samePath(table.path, path))?.keys ?? [];

export function valueAt(document: unknown, path: Path): unknown {
  let here = document;
  for (const step of path) {
    if (typeof here !== "object" || here === null) return undefined;
    here = Reflect.get(here, step);
  }
  return here;
}

/** A key of another table must fit better than one of this table by more than one letter. */
const ELSEWHERE = 1.5;
const SHOWN_TABLES = 4;

/** Words that say which key was probably meant; undefined when none is near. */
export function suggestion(path: Path, name: string): string | undefined {
  const candidates = tables.flatMap((table) => {
    const here = samePath(table.path, path);
    return table.keys.map((key) => {
      const distance = editDistance(plainName(name), plainName(key));
      return { key, table: table.path, here, distance, cost: here ? distance : distance + ELSEWHERE };
    });
  });
  const best = candidates.reduce((a, b) => (b.cost < a.cost ? b : a));
  if (best.cost > reachOf(name) || best.distance >= Math.max(name.length, best.key.length)) return undefined;
  if (best.here) return `did you mean "${best.key}"?`;
  if (best.table.length === 0) return `did you mean [${best.key}], which stands by itself?`;
  const places = candidates.filter(
    ({ key, here, distance }) => key === best.key && !here && distance === best.distance,
  );
  const shown = places.slice(0, SHOWN_TABLES).map(({ table }) => `[${table.join(".")}]`);
  const last = places.length > shown.length ? "others" : shown.pop();
  const under = `under ${shown.length === 0 ? last : `${shown.join(", ")} or ${last}`}`;
  return best.distance === 0 ? `it belongs ${under}` : `did you mean "${best.key}" ${under}?`;
}
