/** A reader's verdicts on a fixed sample, held against what the extractor says now. */
import { z } from "zod";
import type { Judged } from "./figures.ts";
import type { ItemKey } from "./sample.ts";

const Judgements = z.object({
  /** The file, without its ending. */
  data: z.string(),
  extractor: z.string(),
  judged: z.array(
    z.object({
      corpus: z.string(),
      memory: z.string(),
      nth: z.number().int().min(0),
      hash: z.string(),
      verdict: z.enum(["right", "wrong"]),
    }),
  ),
});
export type Judgements = z.infer<typeof Judgements>;

const File = z.object({ sets: z.array(Judgements) });

/** The kept verdicts on what was learned from this data set, if there are any. */
export const readJudgements = (text: string, data: string): Judgements | undefined =>
  File.parse(JSON.parse(text)).sets.find((set) => set.data === data);

const nameOf = ({ corpus, memory, nth, hash }: ItemKey): string => JSON.stringify([corpus, memory, nth, hash]);

export function holdAgainst({ judged }: Judgements, items: readonly ItemKey[]): Judged {
  const made = new Set(items.map(nameOf));
  const still = judged.filter((one) => made.has(nameOf(one)));
  return {
    judged: still.length,
    right: still.filter(({ verdict }) => verdict === "right").length,
    gone: judged.length - still.length,
  };
}
