import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openMemory } from "../../src/main/library.ts";
import { TEST_MODEL_CACHE } from "../support/model.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "library-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const common = { modelDir: TEST_MODEL_CACHE, fetchModel: false };

test("the package opens a memory in this process and keeps it in its folder", async () => {
  const memory = await openMemory({ folder, ...common });
  const input = { butler: "general", content: "Ada planted an apple tree" };
  const stored = await memory.call("memory_store_episode", input, { idempotencyKey: "k" });
  expect(stored).toMatchObject({ ok: true, answer: { tier: "eden" } });
  expect(await memory.call("memory_store_episode", input, { idempotencyKey: "k" })).toMatchObject({
    ok: true,
    answer: { id: stored.ok ? stored.answer.id : "" },
  });
  // @ts-expect-error: a name that is not on the menu does not compile; at run time it is an outcome.
  expect(await memory.call("no_such_tool", {})).toMatchObject({ ok: false, error: { code: "not_found" } });

  const second = await openMemory({ folder, ...common });
  expect(await second.call("memory_stats", {})).toMatchObject({ ok: false, error: { code: "unavailable" } });
  await memory.close();
  expect(await second.call("memory_stats", {})).toMatchObject({ ok: true, answer: { episodes: { total: 1 } } });
  await second.close();
});

test("it wants a folder or a url", async () => {
  await expect(openMemory({})).rejects.toThrow(/folder or a url/);
  await expect(openMemory({ folder, url: "postgres://x/y" })).rejects.toThrow(/not both/);
});
