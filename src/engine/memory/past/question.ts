/** Prepares a question for both arms as recall/question.ts does, from the words and the speakers known at that moment. */

import { meanwhile } from "../../adapters/turns.ts";
import type { MemoryType } from "../../domain/memory-types.ts";
import type { Timeline } from "../../domain/past/timeline.ts";
import { readWhole } from "../../domain/ranking/words/best-first.ts";
import type { Members } from "../../domain/ranking/words/bm25.ts";
import { countHashes } from "../../domain/ranking/words/postings.ts";
import { withoutNames } from "../../domain/text/names.ts";
import { MOST_SAID } from "../../store/memories/names.ts";
import { queryVector } from "../embed.ts";
import type { Call } from "../memory.ts";
import { type Asked, NO_VECTOR, namesAsked, wordsOf } from "../recall/question.ts";
import { groupsOf, type RetrieveQuery, rerankingOf, takesTheirs } from "../recall/retrieve.ts";
import { type PastView, sessionKey } from "./past.ts";
import { rankThen } from "./rank-words.ts";
import { type SpokenThen, spokenThen } from "./spoken.ts";

export interface AskedThen {
  readonly asked: Asked;
  readonly groups: readonly (readonly number[])[];
  readonly typeOf: (sk: number) => MemoryType | undefined;
  /** The words of the question. */
  readonly words: ReadonlySet<number>;
  /** The sessions of speakers whom the question may name. */
  readonly spoken: readonly SpokenThen[];
}

export async function askThen(
  call: Call,
  query: RetrieveQuery,
  timeline: Timeline,
  view: PastView,
): Promise<AskedThen> {
  const { memory, now } = call;
  const { text, mode, types, scopes } = query;
  const groups = groupsOf(
    query,
    types.map((type, sk) => ({ type, sk })),
  );
  const possible = mode === "keyword" ? [] : namesAsked(text);
  const spoken = spokenThen(timeline, { names: possible, sessions: [] }, now);
  const here = spoken.filter(({ scope }) => scopes === undefined || scopes.includes(scope));
  const names = [...new Set(here.map(({ name }) => name))].sort();

  const started = performance.now();
  let embedMs = 0;
  const embed = async () => {
    const made = await queryVector(memory, withoutNames(text, names));
    embedMs = performance.now() - started;
    return made;
  };
  const ranked = () =>
    rankThen(
      view,
      wordsOf(text),
      groups.map((sks) => sks.flatMap((sk) => types[sk] ?? [])),
    );
  const [embedded, first] = await Promise.all([
    mode === "keyword" ? undefined : embed(),
    mode === "semantic" ? undefined : meanwhile(ranked),
  ]);
  const degraded =
    mode === "keyword" ? undefined : (memory.versions.degraded ?? (embedded === undefined ? NO_VECTOR : undefined));
  const read = first ?? (degraded === undefined ? undefined : ranked());
  const withTheirs = takesTheirs(rerankingOf(call, mode), query) && view.lines.length > memory.recipe.theirsAbove;
  const asked: Asked = {
    names,
    said: withTheirs ? saidThen(view, names) : undefined,
    rankings: read?.rankings.map(readWhole),
    statistics: read?.statistics,
    embedded,
    embedMs,
    degraded,
  };
  return { asked, groups, typeOf: (sk) => types[sk], words: new Set(countHashes(wordsOf(text)).keys()), spoken };
}

/** As `saidBy` finds it in the rows of now. */
function saidThen(view: PastView, names: readonly string[]): Members | undefined {
  const ids = view.saidBy(names, MOST_SAID) ?? [];
  return ids.length === 0 ? undefined : { slots: new Map(), ids: new Set(ids) };
}

/** Sessions in which somebody spoke whom the question names. */
export const namedSessions = (spoken: readonly SpokenThen[], names: readonly string[]): ReadonlySet<string> =>
  new Set(spoken.filter(({ name }) => names.includes(name)).map(sessionKey));
