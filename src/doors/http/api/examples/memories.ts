/** The examples that a memory holds: everything with their tag, and what was learned from their episodes alone. */
import type { z } from "zod";
import type { Failure, Outcome } from "../../../../engine/tools/outcome.ts";
import type { Episode } from "../../../../engine/views/lists/episodes.ts";
import type { Asked } from "../define.ts";

export const TAG = "example";

/** A call that was refused; what asked for it ends, and the refusal is the answer. */
export class Refused extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

interface How {
  readonly project?: string;
  readonly key?: string;
  readonly session?: string;
  readonly voice?: "user" | "agent" | "tool" | "imported";
  /** Who did it, in the events. */
  readonly actor?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: each tool's own output schema has checked its answer.
type Answer = Record<string, any>;

/** Calls a tool of the butler as whoever asked, or as somebody who is trusted less. */
export async function call(asked: Asked, tool: string, input: object, how: How = {}): Promise<Answer> {
  const { backend, principal, params, signal } = asked;
  const { project, key, session, voice = principal.voice, actor = principal.name } = how;
  const outcome = await backend.invoke(
    { ...principal, voice, name: actor },
    params.name ?? "",
    {
      tool,
      input,
      ...(project === undefined ? {} : { project }),
      ...(key === undefined ? {} : { idempotencyKey: key }),
      ...(session === undefined ? {} : { session }),
    },
    { signal },
  );
  if (!outcome.ok) throw new Refused(outcome.error);
  return outcome.answer;
}

/** What `Refused` threw through becomes the answer again. */
export const answered =
  (work: (asked: Asked) => Promise<Answer>) =>
  async (asked: Asked): Promise<Outcome> => {
    try {
      return { ok: true, answer: await work(asked) };
    } catch (error) {
      if (error instanceof Refused) return { ok: false, error: error.failure };
      throw error;
    }
  };

async function everyPage(asked: Asked, view: string, rows: string, filter: object): Promise<Answer[]> {
  const all: Answer[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await call(asked, view, { ...filter, limit: 200, ...(cursor ? { cursor } : {}) });
    all.push(...page[rows]);
    cursor = page.next_cursor;
  } while (cursor);
  return all;
}

export interface Example {
  readonly type: "episode" | "fact" | "rule";
  readonly id: string;
  readonly state: string;
}

export interface Examples {
  readonly all: readonly Example[];
  /** The first day of the story that was told; undefined when no episode of it is left. */
  readonly began: string | undefined;
}

/** Without those that were forgotten. */
export async function examplesIn(asked: Asked): Promise<Examples> {
  const episodes = (await everyPage(asked, "view_episodes", "episodes", { tag: TAG })) as z.infer<typeof Episode>[];
  const facts = await everyPage(asked, "view_facts", "facts", { tag: TAG, state: "all" });
  const rules = await everyPage(asked, "view_rules", "rules", { tag: TAG, state: "all" });
  const own = [
    ...episodes.map(({ id, state }): Example => ({ type: "episode", id, state })),
    ...facts.map(({ id, state }): Example => ({ type: "fact", id, state })),
    ...rules.map(({ id, state }): Example => ({ type: "rule", id, state })),
  ];
  const all = new Map(own.filter(({ state }) => state !== "retracted").map((one) => [one.id, one]));
  for (const lesson of await learnedFrom(asked, episodes)) all.set(lesson.id, lesson);
  const days = episodes.map(({ occurred_at }) => occurred_at.slice(0, 10)).toSorted();
  return { all: [...all.values()], began: days[0] };
}

/** What has a source of somebody's own is theirs, even if an example says the same. */
async function learnedFrom(asked: Asked, episodes: readonly z.infer<typeof Episode>[]): Promise<Example[]> {
  const ours = new Set(episodes.map(({ id }) => id));
  const lessons = new Map(episodes.flatMap(({ taught }) => taught).map((lesson) => [lesson.id, lesson]));
  const learned: Example[] = [];
  for (const { id, type, state } of lessons.values()) {
    if (state === "retracted") continue;
    const { links } = await call(asked, "view_memory", { id });
    const sources = [...links.outbound, ...links.inbound].filter((end: Answer) => end.type === "episode");
    if (sources.every((end: Answer) => ours.has(end.id))) learned.push({ type, id, state });
  }
  return learned;
}
