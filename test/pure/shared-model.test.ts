/** The model that all butlers of an owner share: loaded once, and asked without delay from then on. */
import { expect, it } from "vitest";
import { sharedModel } from "../../src/daemon/owner/shared-model.ts";
import type { Embedder } from "../../src/engine/adapters/embedder/port.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";
import { fakeEmbedder, fakeModel } from "../support/owner-fakes.ts";

function counted() {
  const asked: string[] = [];
  let loads = 0;
  const load = async (): Promise<Embedder> => {
    loads += 1;
    const embedder = fakeEmbedder();
    return {
      ...embedder,
      embed(text, priority) {
        asked.push(text);
        return embedder.embed(text, priority);
      },
    };
  };
  return { asked, loads: () => loads, model: sharedModel({ locate: async () => fakeModel(load), log: silentLog }) };
}

it("hands a question to a loaded model before anything else that its caller does", async () => {
  const { asked, model } = counted();
  const embedder = await model.handle(false);
  await embedder?.embed("first", "query");
  const answer = embedder?.embed("second", "query");
  expect(asked).toEqual(["first", "second"]);
  await answer;
  await model.close();
});

it("loads the model anew for the first question after it was dropped", async () => {
  const { asked, loads, model } = counted();
  const embedder = await model.handle(false);
  await embedder?.embed("first", "query");
  await model.drop();
  await embedder?.embed("second", "query");
  expect(asked).toEqual(["first", "second"]);
  expect(loads()).toBe(2);
  await model.close();
});
