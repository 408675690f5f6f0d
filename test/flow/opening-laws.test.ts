/** What holds of every opening, whatever was stored and by whom. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { openTokenizer } from "../../src/engine/adapters/tokenizer/gpt.ts";
import { HOSTILE, OWN_TAGS, UNSEEN } from "../support/hostile-text.ts";
import { type Guest, onOneRig } from "../support/tenants.ts";

const PROJECTS = ["p", "q", undefined] as const;
const SESSIONS = ["s1", "s2", "s3"] as const;

const words = fc.oneof(
  fc.lorem({ maxCount: 8 }),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }),
  fc.constantFrom(...HOSTILE.map((text) => text.replaceAll("\0", ""))),
  fc.constantFrom(
    "good morning",
    "never use npm",
    "猫が好き",
    "the port is 5433",
    "2026-03-01 10:00:01 INFO x ".repeat(20),
  ),
);
const stored = fc.record({
  kind: fc.constantFrom("episode", "exchange", "fact", "learned", "rule"),
  text: words,
  project: fc.constantFrom(...PROJECTS),
  session: fc.constantFrom(...SESSIONS),
  lasting: fc.boolean(),
});
type Stored = typeof stored extends fc.Arbitrary<infer T> ? T : never;

interface Known extends Stored {
  readonly id: string;
  readonly from: string | undefined;
}

/** Each memory has a word of its own, by which it is recognised wherever it turns up. */
async function store(g: Guest, one: Stored, nth: number): Promise<Known[]> {
  const where = one.project === undefined ? {} : { project: one.project };
  const content = `mark${nth}x ${one.text}`;
  const known = (id: string, kind: Stored["kind"], from?: string): Known => ({ ...one, kind, id, from });
  const episode = async (said: string) =>
    (await g.call("memory_store_episode", { content: said, session_id: one.session }, where)).id as string;
  if (one.kind === "episode") return [known(await episode(content), "episode")];
  if (one.kind === "exchange")
    return [known(await episode(`User: ${content.replace(/\s+/g, " ")}\nAgent: Done.`), "episode")];
  if (one.kind === "rule") {
    const { id } = await g.call("memory_store_rule", { content, scope: scopeOf(one.project) }, where);
    return [known(id, "rule")];
  }
  const from = one.kind === "learned" ? await episode(`${content} told`) : undefined;
  const fact = { subject: `thing${nth}`, predicate: "note", content, scope: scopeOf(one.project) };
  const lasting = one.lasting ? { permanence: "stable", importance: 9 } : {};
  const source = from === undefined ? {} : { source_episode_id: from };
  const { id } = await g.call("memory_store_fact", { ...fact, ...lasting, ...source }, where);
  return [known(id, "fact", from), ...(from === undefined ? [] : [known(from, "episode")])];
}

const scopeOf = (project: string | undefined) => (project === undefined ? "general" : `general/${project}`);

onOneRig(
  "every opening",
  (guest, store_) => {
    it("stays in its budget, its project and its tenant, says nothing twice and nothing of its own session", async () => {
      const { count } = await openTokenizer("o200k_base");
      const asked = fc.record({
        token_budget: fc.oneof(fc.integer({ min: 1, max: 80 }), fc.integer({ min: 80, max: 1_500 })),
        except_session: fc.option(fc.constantFrom(...SESSIONS), { nil: undefined }),
        project: fc.constantFrom(...PROJECTS),
        excepted: fc.nat(5),
        hours: fc.double({ min: 0, max: 11.9, noNaN: true }),
      });
      const worlds = fc.tuple(
        fc.array(stored, { maxLength: 14 }),
        fc.array(stored, { maxLength: 3 }),
        fc.array(asked, { minLength: 3, maxLength: 5 }),
      );
      await fc.assert(
        fc.asyncProperty(worlds, async ([mine, theirs, questions]) => {
          const [g, stranger] = [guest(), guest()];
          const known = (await inTurn(mine, (one, nth) => store(g, one, nth))).flat();
          const foreign = (await inTurn(theirs, (one, nth) => store(stranger, one, 500 + nth))).flat();
          for (const { project, excepted, hours, ...more } of questions) {
            const except = known.slice(0, excepted).map(({ id }) => id);
            const input = { trigger_prompt: "Start", opening: true, except, ...more };
            const call = () => g.call("memory_context", input, project === undefined ? {} : { project });
            g.set("2026-03-01T12:00:00Z");
            const answer = await call();
            g.set(new Date(Date.parse("2026-03-01T12:00:00Z") + hours * 3_600_000));
            expect((await call()).text).toBe(answer.text);
            check(answer, { known, foreign, except, project, session: more.except_session });
            expect(answer.tokens).toBe(count(answer.text));
            expect(answer.tokens).toBeLessThanOrEqual(more.token_budget);
          }
        }),
        { numRuns: store_ === "PGlite" ? 25 : 12 },
      );
    });
  },
  { model: false },
);

async function inTurn<T, U>(all: readonly T[], work: (one: T, nth: number) => Promise<U>): Promise<U[]> {
  const done: U[] = [];
  for (const [nth, one] of all.entries()) done.push(await work(one, nth));
  return done;
}

interface Situation {
  readonly known: readonly Known[];
  readonly foreign: readonly Known[];
  readonly except: readonly string[];
  readonly project: string | undefined;
  readonly session: string | undefined;
}

type Answer = { text: string; sections: { items: { id: string }[] }[] };

function check(answer: Record<string, unknown>, { known, foreign, except, project, session }: Situation): void {
  const { text, sections } = answer as Answer;
  const ids = sections.flatMap(({ items }) => items.map(({ id }) => id));
  expect(new Set(ids).size).toBe(ids.length);
  expect(text.match(/^- /gm)?.length ?? 0).toBe(ids.length);
  for (const id of [...except, ...foreign.map((one) => one.id)]) expect(ids).not.toContain(id);
  expect(text).not.toMatch(/mark50\dx/);
  for (const id of ids) {
    const memory = known.find((one) => one.id === id);
    expect(memory).toBeDefined();
    expect([project, undefined]).toContain(memory?.project);
    if (memory?.kind === "episode") expect(memory.session === session).toBe(false);
    if (memory?.from !== undefined) {
      expect(ids).not.toContain(memory.from);
      expect(memory.session === session).toBe(false);
    }
  }
  if (text === "") return;
  expect(text.match(OWN_TAGS)).toEqual(["<butler-memory", "</butler-memory"]);
  expect(text).not.toMatch(UNSEEN);
}
