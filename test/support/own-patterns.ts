/** Every regular expression of the sources: literals by parsing, those put together at run time by watching them being made. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { vi } from "vitest";
import { parseAst } from "vitest/node";

export interface OwnPattern {
  readonly where: string;
  readonly source: string;
  readonly flags: string;
}

const SRC = fileURLToPath(new URL("../../src/", import.meta.url));

export const sourceFiles = (): string[] =>
  readdirSync(SRC, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .sort();

export function literalPatterns(): OwnPattern[] {
  return sourceFiles().flatMap((file) => {
    const found: OwnPattern[] = [];
    const text = readFileSync(SRC + file, "utf8");
    visit(parseAst(text, { lang: "ts" }), (node) => {
      const { regex, start } = node as { regex?: { pattern: string; flags: string }; start?: number };
      if (regex === undefined || start === undefined) return;
      found.push({
        where: `${file}:${text.slice(0, start).split("\n").length}`,
        source: regex.pattern,
        flags: regex.flags,
      });
    });
    return found;
  });
}

function visit(node: unknown, see: (node: object) => void): void {
  if (typeof node !== "object" || node === null) return;
  see(node);
  for (const child of Object.values(node)) visit(child, see);
}

/** The rooms that start something when they are loaded are left out; what they read from strangers is read further down. */
const loadable = (file: string) => !/^(?:main|lab)\/|worker|migrations/.test(file);

/** Of patterns made while modules are loaded and while `use` runs. A module that a test has loaded before is loaded once more. */
export async function constructedPatterns(use: () => unknown): Promise<OwnPattern[]> {
  const found = new Map<string, OwnPattern>();
  const Native = globalThis.RegExp;
  let where = "";
  globalThis.RegExp = new Proxy(Native, {
    construct(target, given: [string | RegExp, string?]) {
      const made = new target(...given);
      if (where !== "") found.set(`${made}`, { where, source: made.source, flags: made.flags });
      return made;
    },
  });
  vi.resetModules();
  try {
    for (const file of sourceFiles().filter(loadable)) {
      if (!readFileSync(SRC + file, "utf8").includes("new RegExp(")) continue;
      where = file;
      await import(`../../src/${file}`);
    }
    where = "made when used";
    await use();
  } finally {
    globalThis.RegExp = Native;
  }
  return [...found.values()];
}
