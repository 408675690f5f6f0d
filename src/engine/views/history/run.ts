import { z } from "zod";
import { notFound } from "../../domain/errors.ts";
import { isRecord } from "../../domain/record.ts";
import { canSee } from "../../domain/scope.ts";
import { lexemes } from "../../domain/text/lexemes.ts";
import { episodesOfRun } from "../../store/browse/runs.ts";
import { shownMemories } from "../../store/history/shown-memories.ts";
import { findRun } from "../../store/jobs/consolidation.ts";
import * as f from "../../tools/fields.ts";
import * as v from "../common.ts";
import { defineView } from "../define.ts";
import { Run, shownRun } from "./runs.ts";

const Decision = z.object({
  kind: z.string().describe("Such as create_fact, confirm_fact or supersede_fact."),
  id: z.string(),
  text: z.string().nullable().describe("As it is now; null when it was forgotten."),
  state: f.state.nullable(),
  episodes: z.array(z.string()),
  words: z.array(z.string()).describe("The words of the episodes that stand in it."),
});

export const viewRun = defineView({
  name: "view_run",
  title: "One run of consolidation: its decisions beside what was read",
  input: f.input({ id: f.id }),
  output: f.output({
    run: Run,
    decisions: z.array(Decision),
    dropped: z.array(z.object({ kind: z.string(), reason: z.string() })),
    episodes: z.array(
      z.object({
        id: z.string(),
        content: z.string(),
        session_id: z.string().nullable(),
        speaker: z.string().nullable(),
        occurred_at: z.string(),
        trust: v.trust,
      }),
    ),
  }),
  async run(call, { id }) {
    const { db } = call.memory;
    const seen = v.seenBy(call);
    const found = await findRun(db, seen.tenant, id);
    if (found === undefined || !canSee(call.caller, found.butler)) throw notFound(`There is no run with the id ${id}.`);
    const { tenant_id: _, episode_ids, lease_until: __, input: ___, answer: ____, reserved_usd: _____, ...row } = found;
    const { decisions, ...run } = row;
    const changes = listIn(decisions, "changes").flatMap(changeOf);
    const [memories, episodes] = await Promise.all([
      shownMemories(
        db,
        seen,
        changes.map((change) => change.id),
      ),
      episodesOfRun(db, seen, episode_ids),
    ]);
    return {
      run: shownRun({ ...run, episodes: episode_ids.length }),
      decisions: changes.map((change) => {
        const memory = memories.get(change.id);
        const text = memory?.text ?? null;
        const read = episodes.filter((episode) => change.episodes.includes(episode.id));
        return {
          ...change,
          text,
          state: memory === undefined ? null : f.state.parse(memory.state),
          words:
            text === null
              ? []
              : sharedWords(
                  text,
                  read.map(({ content }) => content),
                ),
        };
      }),
      dropped: listIn(decisions, "dropped").map(({ kind, reason }) => ({ kind: String(kind), reason: String(reason) })),
      episodes: episodes.map(({ occurred_at, ...episode }) => ({ ...episode, occurred_at: occurred_at.toISOString() })),
    };
  },
});

const listIn = (decisions: unknown, name: string): Record<string, unknown>[] => {
  const list = isRecord(decisions) ? decisions[name] : undefined;
  return Array.isArray(list) ? list.filter(isRecord) : [];
};

function changeOf({ kind, id, episodes }: Record<string, unknown>) {
  if (typeof id !== "string" || !f.id.safeParse(id).success) return [];
  const cited = Array.isArray(episodes) ? episodes.filter((one): one is string => typeof one === "string") : [];
  return [{ kind: String(kind), id, episodes: cited }];
}

const WORD = /[\p{L}\p{N}][\p{L}\p{N}'’.-]*/gu;
const MOST_WORDS = 60;

/** The words of the episodes, as they stand there, whose stems are in the text. */
function sharedWords(text: string, episodes: readonly string[]): string[] {
  const stems = new Set(lexemes(text));
  const words = new Set(episodes.flatMap((content) => content.match(WORD) ?? []));
  return [...words].filter((word) => lexemes(word).some((stem) => stems.has(stem))).slice(0, MOST_WORDS);
}
