/** Where knowledge comes from: the request behind it, what it is related to, and how its states are called. */
import { describe, expect, it } from "vitest";
import { applyEvent, emptyLedger, type ReplayEvent } from "../../src/engine/domain/replay.ts";
import { promote } from "../../src/engine/memory/keep/promote.ts";
import { consolidate } from "../../src/engine/memory/learn/consolidate.ts";
import { runJob } from "../support/job-runs.ts";
import { fact, labelled, scripted } from "../support/scripted-extractor.ts";
import { type Guest, onOneRig } from "../support/tenants.ts";

const asked = (request_id: string) => ({ request_context: { request_id } });
const tell = async (g: Guest, content: string, more: object = {}): Promise<string> =>
  (await g.call("memory_store_episode", { content, speaker: "user", ...more })).id;
const memories = (g: Guest, table: "facts" | "rules") =>
  g.db.query<{ id: string; content: string; request_id: string | null }>(
    `select id, content, request_id from ${table} where tenant_id = $1 order by content`,
    [g.tenant],
  );
const eventsOf = async (g: Guest, ...types: readonly string[]) =>
  (await g.events())
    .filter(({ event_type }) => types.includes(event_type))
    .map(({ event_type, request_id }) => [event_type, request_id]);
const related = (g: Guest) =>
  g.db.query<{ source: string; target: string }>(
    `select coalesce(f.content, r.content) as source, coalesce(g.content, s.content) as target from memory_links l
     left join facts f on f.id = l.source_id left join rules r on r.id = l.source_id
     left join facts g on g.id = l.target_id left join rules s on s.id = l.target_id
     where l.tenant_id = $1 and relation = 'related_to' order by 1, 2`,
    [g.tenant],
  );

onOneRig("lineage", (guest) => {
  describe("of a request", () => {
    it("goes from an episode to the fact and the rule that are learned from it, and to their events", async () => {
      const g = guest();
      await tell(g, "I live in Porto. Always use tabs.", asked("r1"));
      await tell(g, "Ann is my sister.", asked("r2"));
      await tell(g, "Bob is my brother.");
      const { extractor } = scripted((m) => ({
        facts: [
          fact("lives_in", "The user lives in Porto.", [labelled(m, "Porto")]),
          fact("sister", "Ann is the sister of the user.", [labelled(m, "Ann")]),
          fact("brother", "Bob is the brother of the user.", [labelled(m, "Bob")]),
        ],
        rules: [{ content: "Always use tabs.", episodes: [labelled(m, "Porto")] }],
      }));
      await runJob(g, consolidate, { extractor });
      expect((await memories(g, "facts")).map(({ content, request_id }) => [content.slice(0, 3), request_id])).toEqual([
        ["Ann", "r2"],
        ["Bob", null],
        ["The", "r1"],
      ]);
      expect(await memories(g, "rules")).toMatchObject([{ request_id: "r1" }]);
      const told = await eventsOf(g, "fact.stored", "rule.stored");
      expect(told.map((one) => one.join(" ")).sort()).toEqual([
        ...["fact.stored ", "fact.stored r1", "fact.stored r2", "rule.stored r1"],
      ]);
      const links = await g.db.query<{ request_id: string | null }>(
        "select distinct request_id from memory_links where tenant_id = $1 and relation = 'derived_from' order by 1",
        [g.tenant],
      );
      expect(links.map(({ request_id }) => request_id)).toEqual(["r1", "r2", null]);
    });

    it("stands on what later episodes do to a fact", async () => {
      const g = guest();
      const lives = (content: string) =>
        scripted((m) => ({ facts: [fact("lives_in", content, [labelled(m, "live")])] }));
      for (const [n, town] of ["Porto", "Porto", "Graz"].entries()) {
        await tell(g, `I live in ${town}, since ${n}.`, asked(`r${n}`));
        await runJob(g, consolidate, { extractor: lives(`The user lives in ${town}.`).extractor });
        g.later(1);
      }
      expect(await eventsOf(g, "fact.stored", "fact.confirmed", "fact.superseded")).toEqual([
        ["fact.stored", "r0"],
        ["fact.confirmed", "r1"],
        ["fact.superseded", "r2"],
        ["fact.stored", "r2"],
      ]);
    });

    it("goes along with promotion, and gives way to a request of the call's own", async () => {
      const g = guest();
      const id = await tell(g, "Ann lives in Porto.", asked("r1"));
      for (const days of [1, 7]) {
        for (let day = 0; day < 3; day++) {
          for (let n = 0; n < 4; n++) await g.call("memory_get", { id }, { session: `day${day}` });
          g.later(1);
        }
        g.later(days);
        await runJob(g, promote);
      }
      expect(await memories(g, "facts")).toMatchObject([{ content: "Porto", request_id: "r1" }]);
      expect(await eventsOf(g, "fact.stored", "episode.promoted")).toEqual([
        ["episode.promoted", "r1"],
        ["fact.stored", "r1"],
        ["episode.promoted", "r1"],
      ]);

      const other = guest();
      await tell(other, "I live in Porto.", asked("r1"));
      const { run_id } = await other.call("memory_consolidate", {});
      const facts = [fact("lives_in", "The user lives in Porto.", ["e1"])];
      await other.call("memory_consolidate", { run_id, facts, ...asked("r9") });
      expect(await eventsOf(other, "fact.stored")).toEqual([["fact.stored", "r9"]]);
    });
  });

  describe("related_to", () => {
    it("joins what was learned from one episode about one subject, and rules that came with it", async () => {
      const g = guest();
      await tell(g, "My sister Ann lives in Graz and likes jazz. Bob lives in Oslo. Always greet Ann first.");
      const about = (subject: string, predicate: string, content: string) => ({
        ...fact(predicate, content, ["e1"]),
        subject,
      });
      const { extractor } = scripted(() => ({
        facts: [
          about("Ann", "lives_in", "Ann lives in Graz."),
          about("ann", "likes:jazz", "Ann likes jazz."),
          about("Bob", "lives_in", "Bob lives in Oslo."),
        ],
        rules: [{ content: "Always greet Ann first.", episodes: ["e1"] }],
      }));
      await runJob(g, consolidate, { extractor });
      const found = await related(g);
      expect(found).toContainEqual({ source: "Ann likes jazz.", target: "Ann lives in Graz." });
      expect(found.filter(({ source }) => source.startsWith("Bob"))).toEqual([]);
      expect(found.filter(({ source }) => source.startsWith("Always"))).toHaveLength(3);
      const born = (await g.events()).filter(({ event_type }) => event_type === "rule.stored");
      const links = born.flatMap(({ payload }) => payload.links as { relation: string }[]);
      expect(links.filter(({ relation }) => relation === "related_to")).toHaveLength(3);
    });

    it("joins what is told of one episode by hand, three at most, and never across scopes", async () => {
      const g = guest();
      const source_episode_id = await tell(g, "Ann this, Ann that.");
      const told = (n: number, more: object = {}) =>
        g.call("memory_store_fact", {
          ...{ subject: "Ann", predicate: `p${n}`, content: `value ${n}`, source_episode_id },
          ...more,
        });
      for (let n = 1; n <= 5; n++) await told(n);
      await told(6, { scope: "general" });
      await told(7, { source_episode_id: undefined });
      const found = await related(g);
      expect(found.filter(({ source }) => source === "value 2")).toEqual([{ source: "value 2", target: "value 1" }]);
      expect(found.filter(({ source }) => source === "value 5")).toHaveLength(3);
      expect(found.filter(({ source }) => ["value 6", "value 7"].includes(source))).toEqual([]);
    });
  });

  it("a state that was written down as forgotten is shown as retracted, and replays as that", async () => {
    const g = guest();
    const { id } = await g.call("memory_store_fact", { subject: "user", predicate: "lives_in", content: "Porto" });
    g.later(1);
    await g.call("memory_forget", { id });
    // The stream refuses to be changed, so its guards look away for once.
    await g.db.tx(async (sql) => {
      await sql.query("set local session_replication_role = replica");
      await sql.query(
        `update memory_events set payload = jsonb_set(payload, '{set,validity}', '"forgotten"')
         where tenant_id = $1 and event_type = 'fact.forgotten'`,
        [g.tenant],
      );
    });
    g.later(1);
    const then = await g.call("memory_get", { id, as_of: g.now.toISOString() });
    expect(then.memory.state).toBe("retracted");
    const { events } = await g.call("memory_activity_stream", {});
    expect(events.map(({ payload }: { payload: { set?: object } }) => payload.set)).toContainEqual(
      expect.objectContaining({ validity: "retracted" }),
    );
    const ledger = emptyLedger();
    for (const event of await g.events()) applyEvent(ledger, event as unknown as ReplayEvent);
    expect(ledger.memories.fact.get(id)?.validity).toBe("retracted");
  });
});
