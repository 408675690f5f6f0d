/** Every way to the rows of all tenants is in the table of ARCHITECTURE.md, and is used. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { JOB_NAMES } from "../../src/engine/memory/keep/job.ts";
import { OWNER_WORK } from "../../src/engine/store/access/access.ts";

const ROOT = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), "utf8");

it("work over all tenants is told, and nothing else reaches a store as it is", () => {
  const [, table = ""] = read("ARCHITECTURE.md").split("Work over all tenants has a name");
  const [told = ""] = table.split("\n- **");
  const names = told
    .split("\n")
    .flatMap((line) => [...(line.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)].map(([, name]) => name));
  expect(names.toSorted()).toEqual([...OWNER_WORK].toSorted());

  const sources = readdirSync(new URL("src/", ROOT), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => [path, read(`src/${path}`)] as const);
  const used = sources.flatMap(([, text]) =>
    [...text.matchAll(/(?:asOwner|asOwnerOf|wholeMemory)\([^"()]*(?:\([^()]*\))*[^"()]*"([^"]+)"/g)].map(
      ([, name]) => name,
    ),
  );
  // Jobs take their own name; erasure has its trigger.
  expect([...new Set([...used, ...JOB_NAMES, "erasure"])].toSorted()).toEqual([...OWNER_WORK].toSorted());

  // A call's store is set in one place, and the memory is handed out with a store that shows no row.
  expect(sources.filter(([, text]) => text.includes("memoryOf(memory, who.tenant)")).map(([path]) => path)).toEqual([
    "engine/tools/call.ts",
  ]);
  expect(read("src/engine/memory/open.ts")).toContain("db: asNobody(parts.db, roles)");
});
