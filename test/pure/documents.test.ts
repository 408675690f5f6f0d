/** The documents name files; a file that moves takes its mention with it. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** Folders of a home, not of this repository. */
const OF_A_HOME = new Set(["BUTLER_HOME/installs", "spool/failed"]);

/** What stands in backquotes and has a slash in it or ends like a file of ours; `src/` is left out where a text speaks of zones. */
function namedPaths(text: string): string[] {
  const quoted = [...text.matchAll(/`([\w./-]+)`/g)].flatMap(([, path = ""]) => path);
  const zones = /^(?:engine|doors|daemon|hosts|lab|main|src|test|plugins|roster|ops|bench|scripts)\//;
  return [...new Set(quoted.filter((path) => zones.test(path) || (path.includes("/") && !OF_A_HOME.has(path))))];
}

const exists = (path: string) => [path, `src/${path}`].some((at) => existsSync(`${ROOT}${at}`));

describe.each(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"])("%s", (document) => {
  const paths = namedPaths(readFileSync(`${ROOT}${document}`, "utf8"));

  it("names files that are there", () => {
    expect(paths.filter((path) => !exists(path) && !path.startsWith("/"))).toEqual([]);
  });
});

it("the architecture names dozens of files, so that this test looks at something", () => {
  expect(namedPaths(readFileSync(`${ROOT}ARCHITECTURE.md`, "utf8")).length).toBeGreaterThan(50);
  expect(namedPaths("`engine/gone.ts` and `a b/c`")).toEqual(["engine/gone.ts"]);
});
