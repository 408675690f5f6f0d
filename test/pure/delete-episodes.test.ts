import { expect, it } from "vitest";
import { deleteEpisodes } from "../../src/engine/store/memories/episodes.ts";

it("episodes are deleted before what hangs on them, so that a reading that is being counted is waited for", async () => {
  const said: string[] = [];
  const sql = {
    async query<R>(text: string): Promise<R[]> {
      said.push(/delete from (\w+)/.exec(text)?.[1] ?? text);
      return [];
    },
  };
  await deleteEpisodes(sql, ["00000000-0000-7000-8000-000000000001"]);
  expect(said).toEqual(["episodes", "episode_references", "embeddings"]);
});
