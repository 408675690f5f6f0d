/** Random memories, and in plain words which of them a question may be answered with. */
import fc from "fast-check";
import { DAY_MS } from "../../src/engine/domain/lifecycle/decay.ts";
import type { Tier } from "../../src/engine/domain/lifecycle/tiers.ts";
import type { MemoryType } from "../../src/engine/domain/memory-types.ts";
import { lexemes } from "../../src/engine/domain/text/lexemes.ts";
import { decaySweep } from "../../src/engine/memory/keep/decay-sweep.ts";
import { runJob } from "./job-runs.ts";
import type { Guest } from "./tenants.ts";

export const BUTLERS = ["general", "travel"] as const;
export type Butler = (typeof BUTLERS)[number];
const WORDS = ["river", "mill", "honey", "bees", "stone", "tea", "friday", "garden", "painting", "letter"] as const;
const TAGS = ["red", "green", "blue"] as const;

export const words = (most: number) =>
  fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: most }).map((said) => said.join(" "));
export const tags = fc.subarray([...TAGS]);
/** Names come first, so that some questions name one speaker, some two, some nobody who speaks. */
export const questions = fc
  .tuple(
    fc.subarray(["Ada", "Grace", "Alan"], { maxLength: 2 }),
    fc.oneof(words(3), fc.constant("zebra")),
    fc.boolean(),
  )
  .map(([names, said, asks]) => `${[...names, said].join(" ")}${asks ? "?" : ""}`);

/** What is told, by which butler; `n`, `mark` and `days` say to which earlier memory what happens. */
export type Step =
  | { readonly tool: string; readonly butler: Butler; readonly input: Readonly<Record<string, unknown>> }
  | { readonly mark: "memory_forget" | "memory_confirm" | "memory_restore"; readonly n: number }
  | { readonly days: number }
  | { readonly sweep: true };

const butler = fc.constantFrom<Butler>("general", "general", "travel");
const telling = (tool: string, input: fc.Arbitrary<Record<string, unknown>>): fc.Arbitrary<Step> =>
  fc.record({ tool: fc.constant(tool), butler, input });

const episode = telling(
  "memory_store_episode",
  fc.record(
    {
      content: fc.tuple(words(5), fc.constantFrom("", "?", " for Ada")).map((parts) => parts.join("")),
      session_id: fc.constantFrom("s1", "s2"),
      speaker: fc.constantFrom("Ada", "Grace Hopper", "user"),
      importance: fc.integer({ min: 0, max: 10 }),
      tags,
    },
    { requiredKeys: ["content"] },
  ),
);
const note = telling(
  "memory_store",
  fc.record(
    { content: words(4), tier: fc.constantFrom<Tier>("eden", "mid", "long"), tags },
    { requiredKeys: ["content"] },
  ),
);
const fact = fc
  .tuple(
    butler,
    fc.boolean(),
    fc.record(
      {
        subject: fc.constantFrom("Ada", "team", "house"),
        predicate: fc.constantFrom("likes", "owns", "likes:best"),
        content: words(3),
        permanence: fc.constantFrom("permanent", "stable", "volatile", "ephemeral"),
        confidence: fc.integer({ min: 1, max: 10 }).map((tenths) => tenths / 10),
        importance: fc.integer({ min: 0, max: 10 }),
        valid_to: fc.constantFrom("2026-03-05", "2026-04-20", "2031-01-01"),
        tags,
      },
      { requiredKeys: ["subject", "predicate", "content"] },
    ),
  )
  .map(
    ([by, own, input]): Step => ({
      tool: "memory_store_fact",
      butler: by,
      input: own ? { ...input, scope: by } : input,
    }),
  );
const rule = fc.tuple(butler, fc.boolean(), words(4), tags).map(
  ([by, own, content, marks]): Step => ({
    tool: "memory_store_rule",
    butler: by,
    input: { content: `Mind the ${content}`, tags: marks, ...(own ? { scope: by } : {}) },
  }),
);
const happening: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    mark: fc.constantFrom(
      "memory_forget" as const,
      "memory_forget" as const,
      "memory_confirm" as const,
      "memory_restore" as const,
    ),
    n: fc.nat(60),
  }),
  fc.record({ days: fc.constantFrom(0.2, 0.5, 1, 3, 8, 20) }),
  fc.constant<Step>({ sweep: true }),
);

export const told: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: episode },
  { weight: 2, arbitrary: note },
  { weight: 6, arbitrary: fact },
  { weight: 3, arbitrary: rule },
);
/** Never more than an arm of a search is deep. */
export const steps = fc.array(fc.oneof({ weight: 19, arbitrary: told }, { weight: 5, arbitrary: happening }), {
  minLength: 20,
  maxLength: 40,
  size: "max",
});

/** Refusals are part of life: a fact may be over before it was told, a rule twice forgotten. */
export async function live(g: Guest, all: readonly Step[]): Promise<void> {
  const ids: [string, Butler][] = [];
  for (const step of all) {
    if ("days" in step) g.later(step.days);
    else if ("sweep" in step) await runJob(g, decaySweep);
    else if ("mark" in step) {
      const [id, by] = ids[step.n % Math.max(1, ids.length)] ?? [];
      if (id !== undefined && by !== undefined) await g.outcome(step.mark, { id }, { as: { butler: by } });
    } else {
      const outcome = await g.outcome(step.tool, step.input, { as: { butler: step.butler } });
      if (outcome.ok) ids.push([(outcome.answer as { id: string }).id, step.butler]);
    }
  }
  await g.settled();
}

export interface Known {
  readonly id: string;
  readonly type: MemoryType;
  readonly scope: string;
  readonly tags: readonly string[];
  readonly tier: Tier | null;
  /** Neither forgotten, replaced nor over. */
  readonly live: boolean;
  readonly confidence: number;
  readonly text: string;
  /** Of facts: what of whom they tell. */
  readonly key: string | null;
}

export interface Asking {
  readonly query: string;
  readonly types?: readonly MemoryType[] | undefined;
  readonly scope?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly tier?: Tier | undefined;
  readonly min_confidence?: number | undefined;
  readonly mode?: "hybrid" | "semantic" | "keyword" | undefined;
}

/** Every row of the tenant, as the tables have it. */
export async function everything(g: Guest): Promise<Known[]> {
  const rows = await g.db.query<Omit<Known, "confidence"> & { conf: number; rate: number; since: Date }>(
    `select id, 'episode' as type, butler as scope, tags, tier, validity = 'active' and expires_at > $2 as live,
       1::float8 as conf, 0::float8 as rate, created_at as since, content as text, null as key from episodes where tenant_id = $1
     union all select id, 'fact', scope, tags, null,
       validity in ('active', 'fading') and (valid_to is null or valid_to > $2),
       confidence, decay_rate, last_confirmed_at, subject_text || ' ' || predicate_text || ' ' || content,
       subject || ' / ' || predicate
       from facts where tenant_id = $1
     union all select id, 'rule', scope, tags, null, validity in ('active', 'fading'),
       confidence, decay_rate, last_confirmed_at, content, null from rules where tenant_id = $1`,
    [g.tenant, g.now],
  );
  return rows.map(({ conf, rate, since, ...row }) => ({
    ...row,
    confidence: conf * Math.exp((-rate * (g.now.getTime() - since.getTime())) / DAY_MS),
  }));
}

/** Those that a search by this butler may find. By keyword it finds those that share a word, by meaning all. */
export function allowed(all: readonly Known[], by: Butler, asking: Asking, oneValue = false): Set<string> {
  const scopes = asking.scope === "global" ? ["global"] : ["global", by];
  const asked = new Set(lexemes(asking.query));
  // Everybody here is trusted alike: of two values of a key a block tells the butler's own.
  const hides = (other: Known, row: Known) =>
    other.key === row.key &&
    other.live &&
    other.confidence >= 0.2 &&
    scopes.indexOf(other.scope) > scopes.indexOf(row.scope);
  const passes = (row: Known) =>
    row.live &&
    (!oneValue || row.key === null || !all.some((other) => hides(other, row))) &&
    scopes.includes(row.scope) &&
    row.confidence >= (asking.min_confidence ?? 0.2) &&
    (asking.types === undefined || asking.types.includes(row.type)) &&
    (asking.tags === undefined || asking.tags.every((tag) => row.tags.includes(tag))) &&
    (asking.tier === undefined || row.tier === asking.tier) &&
    (asking.mode !== "keyword" || lexemes(row.text).some((word) => asked.has(word)));
  return new Set(all.filter(passes).map(({ id }) => id));
}
