/** The memories that the everyday benchmark looks at: those of every benchmark, and five very long episodes. */

import { type BenchHome, filled, opened } from "../bench-home.ts";
import { answerOf } from "../build.ts";
import { PROJECT } from "../hooks/installed.ts";
import { episodeText, picker } from "../sentences.ts";

export const LONG_QUERY = "minutes of the lighthouse committee";
const LONG = 5;
const LONG_CHARS = 30_000;

/** The memories are stored in the project's own scope, where the sessions under test look. */
export async function fillEveryday(bench: BenchHome): Promise<void> {
  const { memory, close } = await opened(bench);
  try {
    const { build } = await filled(bench, memory, PROJECT);
    if (build === null) return;
    const p = picker(5);
    for (let n = 0; n < LONG; n++) {
      let content = `Minutes of the lighthouse committee, meeting ${n + 1}.`;
      while (content.length < LONG_CHARS) content += ` ${episodeText(p)}`;
      await answerOf(memory, "memory_store_episode", { content }, { project: PROJECT });
    }
  } finally {
    await close();
  }
}
