/** Walking through a list, page by page, while others write: what was there all the time is met once. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { apiOver } from "../../support/api-rig.ts";
import { onEachStore, type Rig } from "../../support/stores.ts";

type Write = (rig: Rig, nth: number, known: readonly string[]) => Promise<unknown>;

const fact = (subject: string, predicate: string, content: string) => ({ subject, predicate, content });

/** What happens between two pages. */
const WRITES: Readonly<Record<string, Write>> = {
  before: (rig, n) => rig.call("memory_store_fact", fact("aaa", `p${n}`, `early ${n}`)),
  within: (rig, n) => rig.call("memory_store_fact", fact(`s${n % 4}`, `late ${n}`, `between ${n}`)),
  after: (rig, n) => rig.call("memory_store_fact", fact("zzz", `p${n}`, `end ${n}`)),
  supersede: (rig, n) => rig.call("memory_store_fact", fact(`s${n % 4}`, `p${n % 8}`, `changed ${n}`)),
  confirm: (rig, n, known) => rig.outcome("memory_confirm", { id: known[n % known.length] }),
  forget: (rig, n, known) => rig.outcome("memory_forget", { id: known[n % known.length] }),
  rule: (rig, n) => rig.call("memory_store_rule", { content: `Rule ${n} of those that came later.` }),
  mark: (rig, n, known) =>
    rig.outcome("memory_mark_helpful", { rule_id: known[n % known.length], session_id: `m${n}` }),
  episode: (rig, n) => rig.call("memory_store_episode", { content: `Said meanwhile: ${n}`, butler: "general" }),
  read: (rig, n) => rig.call("memory_search", { query: `value ${n}` }),
};

/** A list, and what of a row tells it apart. */
const LISTS = [
  { path: "facts", list: "facts", key: "id" },
  { path: "facts?order=newest", list: "facts", key: "id" },
  { path: "facts?state=all", list: "facts", key: "id" },
  { path: "facts?as_of=2026-03-01T12:00:00Z", list: "facts", key: "id" },
  { path: "rules", list: "rules", key: "id" },
  { path: "episodes", list: "episodes", key: "id" },
  { path: "activity", list: "events", key: "id" },
  { path: "activity?everything=true&type=fact", list: "events", key: "id" },
  { path: "activity?event=fact.stored", list: "events", key: "id" },
  { path: "activity?from=2026-03-01&actor=local", list: "events", key: "id" },
  { path: "subjects", list: "subjects", key: "subject" },
  { path: "subjects?q=s", list: "subjects", key: "subject" },
] as const;

const step = fc.record({ what: fc.constantFrom(...Object.keys(WRITES)), n: fc.nat(40) });

onEachStore("walking while others write", (open) => {
  it("meets each row that was there all the time once, in every list", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    const known: string[] = [];
    for (let n = 0; n < 16; n++) {
      known.push(String((await rig.call("memory_store_fact", fact(`s${n % 4}`, `p${n % 8}-${n}`, `value ${n}`))).id));
      if (n % 4 === 0) known.push(String((await rig.call("memory_store_rule", { content: `Rule ${n} stands.` })).id));
      await rig.call("memory_store_episode", { content: `Turn ${n}`, butler: "general", session_id: `s${n % 3}` });
    }
    const keysOf = (answer: Record<string, unknown>, { list, key }: (typeof LISTS)[number]) =>
      (answer[list] as Record<string, string>[]).map((row) => String(row[key]));
    const whole = async (list: (typeof LISTS)[number]) => walk(list, 200, async () => undefined);
    const walk = async (list: (typeof LISTS)[number], size: number, between: (page: number) => Promise<unknown>) => {
      const met: string[] = [];
      let more = "";
      for (let page = 0; page < 500; page++) {
        const answer = await api.get(`${list.path}${list.path.includes("?") ? "&" : "?"}limit=${size}${more}`);
        met.push(...keysOf(answer, list));
        const next = answer.next_cursor ?? answer.next ?? null;
        if (next === null) return met;
        more = `&${list.list === "subjects" ? "after" : "cursor"}=${encodeURIComponent(next)}`;
        await between(page);
      }
      throw new Error("the list has no end");
    };
    let nth = 1_000;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...LISTS),
        fc.integer({ min: 1, max: 7 }),
        fc.array(step),
        async (list, size, steps) => {
          rig.later(1 / 24);
          const before = await whole(list);
          const met = await walk(list, size, async (page) => {
            const { what, n } = steps[page] ?? {};
            if (what !== undefined) await WRITES[what]?.(rig, n === undefined ? nth++ : n + nth++, known);
          });
          const after = new Set(await whole(list));
          expect(met.length).toBe(new Set(met).size);
          const throughout = before.filter((key) => after.has(key));
          expect(met.filter((key) => throughout.includes(key)).length).toBe(throughout.length);
        },
      ),
      { numRuns: 25 },
    );
    // What was counted by the way is what there is.
    const wrong = await rig.db.query(
      `select * from (select tenant_id, scope, event_type, count(*) as n from memory_events group by 1, 2, 3) e
         full join event_totals t using (tenant_id, scope, event_type) where e.n is distinct from t.n
       union all select * from (select tenant_id, scope, event_type, count(*) as n from memory_events group by 1, 2, 3) e
         full join (select tenant_id, scope, event_type, sum(n)::int8 as n from event_hours group by 1, 2, 3) h
           using (tenant_id, scope, event_type) where e.n is distinct from h.n`,
    );
    expect(wrong).toEqual([]);
  });
});
