/** Decides on an extractor's answer and writes the result, in one transaction that holds a lock on the run. */

import type { Found } from "../../adapters/extractor/port.ts";
import { conflict } from "../../domain/errors.ts";
import type { Answer } from "../../domain/learning/answer.ts";
import type { Change, Decision, Witness } from "../../domain/learning/change.ts";
import { decide } from "../../domain/learning/decide.ts";
import { hintConfidence, type Learned as LearnedBy } from "../../domain/learning/sureness.ts";
import { atMost } from "../../domain/learning/trust.ts";
import { endRun, findRun, lockBatch, readBefore } from "../../store/jobs/consolidation.ts";
import type { Call } from "../memory.ts";
import { sealedClaims } from "../sealing.ts";
import { write } from "../write.ts";
import { applyChanges } from "./apply.ts";
import { type Claimed, labelledTurns } from "./claim.ts";
import { endingOf, runEvent, type Spent } from "./end.ts";
import { learnedFrom, setStatuses } from "./episode-status.ts";
import { embedLearned, gatherKnown, type Shown } from "./known.ts";

export interface Learned {
  readonly run_id: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly changes: readonly {
    readonly kind: Change["kind"];
    readonly id: string;
    readonly episodes: readonly string[];
  }[];
  readonly dropped: Decision["dropped"];
}

export async function learn(
  call: Call,
  claimed: Claimed,
  { answer, found }: { readonly answer: Answer; readonly found?: Found | undefined },
  shown: Shown,
  spent: Spent,
): Promise<Learned> {
  const { run, episodes } = claimed;
  const embeddings = await embedLearned(call, answer);
  // What is near is then looked up in memory, unless somebody else writes meanwhile.
  await call.memory.readModel.caughtUp(call.memory.versions.serving?.version, call.caller.tenant);
  const keyed: Call = { ...call, idempotencyKey: `consolidation:${run.id}` };
  const { answer: learned } = await write(keyed, "consolidate", { run: run.id, answer }, async (writing) => {
    const held = await findRun(writing.sql, call.caller.tenant, run.id, true);
    if (held?.state !== "running")
      throw conflict(`run ${run.id} has ended meanwhile: its lease is over and its episodes are somebody else's.`);
    // An extractor may take minutes: what was erased or forgotten meanwhile teaches nothing, and its words may stand in any part of the answer.
    const there = await lockBatch(
      writing.sql,
      call.caller.tenant,
      episodes.map(({ id }) => id),
    );
    if (there < episodes.length)
      throw conflict(`some episodes of run ${run.id} are gone meanwhile; the others are learned from later.`);
    const known = await gatherKnown(call, writing, answer, embeddings, shown);
    const most = run.provider === AGENT_PROVIDER ? call.caller.voice : "user";
    const witnesses = witnessesOf(claimed).map((one) => ({ ...one, trust: atMost(one.trust, most) }));
    const decision = decide(answer, known, {
      readBefore: await readBefore(
        writing.sql,
        { tenant: call.caller.tenant, butler: run.butler },
        run.id,
        episodes.map(({ id }) => id),
      ),
      ...{ butler: run.butler, witnesses, now: call.now },
      learned: (kind, nth) => (kind === "fact" ? found?.facts : found?.rules)?.[nth] ?? readBy(run),
      hintConfidence: hintConfidence(call.memory.settings.facts.retrieval_confidence_threshold),
    });
    const requests = new Map(episodes.flatMap(({ id, request_id }) => (request_id === null ? [] : [[id, request_id]])));
    const sessions = new Map(
      episodes.map(({ id, session_id: session, occurred_at: at }) => [id, { session, at }] as const),
    );
    const ids = await applyChanges({ call, writing, run: run.id, embeddings, requests, sessions }, decision.changes);
    const changes = decision.changes.map(({ kind, episodes: cited }, at) => ({
      kind,
      id: ids[at] ?? "",
      episodes: cited,
    }));
    const counts = countsOf(decision, episodes.length);
    const told = await setStatuses(call, writing.sql, run, learnedFrom(episodes));
    await endRun(writing.sql, run.id, {
      ...{ state: "done", ...endingOf(call, spent) },
      ...{
        input: Object.fromEntries(shown),
        answer: sealedClaims(call, answer),
        decisions: { changes, dropped: decision.dropped },
        counts,
      },
    });
    const { usage } = spent;
    writing.record(...told, runEvent(call, run, "done", { counts, ...usage }));
    return { run_id: run.id, counts, changes, dropped: decision.dropped };
  });
  return learned;
}

const readBy = ({ provider, model }: Claimed["run"]): LearnedBy => ({ by: `${provider}/${model}` });

/** Each turn of an episode is a witness with its own trust; all turns of one episode are one piece of evidence. */
export const witnessesOf = ({ episodes }: Claimed): Witness[] =>
  labelledTurns(episodes).map(({ label, text, trust, episode: { id, occurred_at, session_id: session } }) => ({
    ...{ label, id, text, trust, session, occurred_at },
  }));

/** An agent that consolidates may cite any turn, so that nothing it learns is trusted more than the agent itself. */
export const AGENT_PROVIDER = "agent";

const WORDS: Readonly<Record<Change["kind"], string>> = {
  create_fact: "facts_created",
  supersede_fact: "facts_superseded",
  confirm_fact: "facts_confirmed",
  contradict_fact: "facts_contradicted",
  create_rule: "rules_created",
  confirm_rule: "rules_confirmed",
};

function countsOf({ changes, dropped }: Decision, episodes: number): Record<string, number> {
  const counts: Record<string, number> = { episodes_consolidated: episodes };
  const add = (name: string) => {
    counts[name] = (counts[name] ?? 0) + 1;
  };
  for (const { kind } of changes) add(WORDS[kind]);
  for (const { reason } of dropped) add(`dropped_${reason}`);
  return counts;
}
