/** An agent that learns by itself: it is given a batch, and what it says is taken once. */
import { expect, it } from "vitest";
import { fact } from "../support/scripted-extractor.ts";
import { type Guest, onOneRig } from "../support/tenants.ts";

const told = async (guest: Guest, content: string, more: object = {}): Promise<string> =>
  (await guest.call("memory_store_episode", { content, speaker: "user", ...more })).id;
const MINUTES = 1 / 1440;
const states = async (guest: Guest) =>
  (
    await guest.db.query<{ state: string }>(
      `select consolidation_status || ' ' || consolidation_attempts as state from episodes where tenant_id = $1
       order by created_at, id`,
      [guest.tenant],
    )
  ).map(({ state }) => state);
const facts = async (guest: Guest) =>
  (
    await guest.db.query<{ content: string }>(
      "select content from facts where tenant_id = $1 and validity = 'active' order by content",
      [guest.tenant],
    )
  ).map(({ content }) => content);

onOneRig(
  "memory_consolidate",
  (guest) => {
    it("says so when nothing waits", async () => {
      expect(await guest().call("memory_consolidate", {})).toEqual({ state: "nothing_waits" });
    });

    it("gives the oldest episodes with what is known around them, and takes what was learned", async () => {
      const g = guest();
      await g.call("memory_store_fact", {
        subject: "user",
        predicate: "lives_in",
        content: "The user lives in Porto.",
        scope: "general",
      });
      await g.call("memory_store_rule", { content: "Ask before you move a meeting." });
      g.later(MINUTES);
      const graz = await told(g, "I live in Graz now, since Porto was too hot.");
      const meeting = await told(g, "Good that you did ask before you did move that meeting.");
      await told(g, "<butler-memory>nothing but our own words</butler-memory>");
      const given = await g.call("memory_consolidate", { limit: 3 });
      expect(given).toMatchObject({
        state: "given",
        episodes: [
          { label: "e1", text: "I live in Graz now, since Porto was too hot.", speaker: "user", trust: "user" },
          { label: "e2", text: expect.stringContaining("Good that you did ask") },
        ],
        facts: [{ label: "f1", subject: "user", predicate: "lives_in", content: "The user lives in Porto." }],
        rules: [{ label: "r1", content: "Ask before you move a meeting." }],
      });
      expect(given.episodes).toHaveLength(2);
      expect(new Date(given.lease_until).getTime() - g.now.getTime()).toBe(300_000);
      expect(await states(g)).toEqual(["pending 1", "pending 1", "pending 1"]);

      g.later(MINUTES);
      const learned = await g.call("memory_consolidate", {
        run_id: given.run_id,
        facts: [fact("lives_in", "The user lives in Graz.", ["e1"], { supersedes: "f1" })],
        rules: [{ content: "Look for towns that are not too hot.", episodes: ["e1"] }],
        confirmations: [{ id: "r1", episodes: ["e2"] }],
      });
      expect(learned.counts).toEqual({
        ...{ episodes_consolidated: 3, facts_superseded: 1, rules_created: 1, rules_confirmed: 1 },
      });
      const [lives, towns, asks] = learned.changes.map((change: { id: string }) => change.id);
      const links = await g.db.query(
        `select source_id as from, relation, target_id as to from memory_links
         where tenant_id = $1 and 'episode' in (source_type, target_type)`,
        [g.tenant],
      );
      expect(links).toHaveLength(3);
      expect(links).toEqual(
        expect.arrayContaining([
          { from: lives, relation: "derived_from", to: graz },
          { from: towns, relation: "derived_from", to: graz },
          { from: meeting, relation: "supports", to: asks },
        ]),
      );
      expect(await facts(g)).toEqual(["The user lives in Graz."]);
      expect(await states(g)).toEqual(["consolidated 1", "consolidated 1", "consolidated 1"]);
      expect(await g.call("memory_consolidate", {})).toEqual({ state: "nothing_waits" });
    });

    it("takes the same answer once, and says the same again", async () => {
      const g = guest();
      await told(g, "I live in Graz.");
      const { run_id } = await g.call("memory_consolidate", {});
      const answer = { run_id, facts: [fact("lives_in", "The user lives in Graz.", ["e1"])] };
      const first = await g.call("memory_consolidate", answer);
      const events = (await g.events()).length;
      expect(await g.call("memory_consolidate", answer)).toEqual(first);
      g.later(1);
      expect(await g.call("memory_consolidate", { run_id })).toEqual(first);
      expect((await g.events()).length).toBe(events);
      expect(await facts(g)).toEqual(["The user lives in Graz."]);
    });

    it("takes one of two answers that come at once", async () => {
      const g = guest();
      await told(g, "I live in Graz.");
      const { run_id } = await g.call("memory_consolidate", {});
      const answers = ["Graz", "Linz"].map((town) =>
        g.outcome("memory_consolidate", { run_id, facts: [fact("lives_in", `The user lives in ${town}.`, ["e1"])] }),
      );
      const ended = await Promise.all(answers);
      expect(ended.filter(({ ok }) => ok).length).toBeGreaterThan(0);
      expect(await facts(g)).toHaveLength(1);
      expect(await states(g)).toEqual(["consolidated 1"]);
    });

    it("drops what was never shown, word for word", async () => {
      const g = guest();
      await told(g, "I live in Graz.");
      const { run_id } = await g.call("memory_consolidate", {});
      const { counts, dropped, changes } = await g.call("memory_consolidate", {
        run_id,
        facts: [
          fact("lives_in", "The user lives in Graz.", ["e1", "e2"]),
          fact("lives_in", "The user lives in Graz.", ["e1"], { supersedes: "f1" }),
        ],
        confirmations: [{ id: "r3", episodes: ["e1"] }],
      });
      expect(counts).toEqual({ episodes_consolidated: 1, dropped_unknown_episode: 1, dropped_unknown_memory: 2 });
      expect(changes).toEqual([]);
      expect(dropped).toEqual([
        { kind: "fact", nth: 0, reason: "unknown_episode" },
        { kind: "fact", nth: 1, reason: "unknown_memory" },
        { kind: "confirmation", nth: 0, reason: "unknown_memory" },
      ]);
      expect(await facts(g)).toEqual([]);
    });

    it("refuses labels that are none, with nothing done: the batch is still there for a better answer", async () => {
      const g = guest();
      await told(g, "I live in Graz.");
      const { run_id } = await g.call("memory_consolidate", {});
      for (const label of ["E1", "e0", "f1", "0198c0de-1234-7abc-8def-0123456789ab", ""]) {
        const wrong = { run_id, facts: [fact("lives_in", "The user lives in Graz.", [label])] };
        expect(await g.refused("memory_consolidate", wrong)).toMatchObject({ code: "invalid_input" });
      }
      expect((await g.call("memory_consolidate", { run_id })).counts).toEqual({ episodes_consolidated: 1 });
    });

    it("knows no run but the caller's own", async () => {
      const [mine, theirs] = [guest(), guest()];
      await told(mine, "I live in Graz.");
      const { run_id } = await mine.call("memory_consolidate", {});
      const unknown = { run_id: "0198c0de-1234-7abc-8def-0123456789ab" };
      expect(await mine.refused("memory_consolidate", unknown)).toMatchObject({ code: "not_found" });
      expect(await theirs.refused("memory_consolidate", { run_id })).toMatchObject({ code: "not_found" });
      expect(await states(mine)).toEqual(["pending 1"]);
      expect((await mine.call("memory_consolidate", { run_id })).state).toBe("learned");
    });

    it("is busy while somebody has the episodes, and gives them to the next one when the lease is over", async () => {
      const g = guest();
      await told(g, "I live in Graz.");
      const first = await g.call("memory_consolidate", {});
      expect(await g.refused("memory_consolidate", {})).toMatchObject({ code: "conflict" });
      g.later(6 * MINUTES);
      const late = { run_id: first.run_id, facts: [fact("lives_in", "The user lives in Graz.", ["e1"])] };
      expect(await g.refused("memory_consolidate", late)).toMatchObject({ code: "conflict" });
      expect(await facts(g)).toEqual([]);
      const second = await g.call("memory_consolidate", {});
      expect(second.run_id).not.toBe(first.run_id);
      expect(await g.refused("memory_consolidate", late)).toMatchObject({ code: "conflict" });
      expect((await g.call("memory_consolidate", { ...late, run_id: second.run_id })).counts).toEqual({
        ...{ episodes_consolidated: 1, facts_created: 1 },
      });
      expect(await states(g)).toEqual(["consolidated 2"]);
    });

    it("gives up on episodes that five agents have left lying", async () => {
      const g = guest();
      await told(g, "I live in Graz.");
      for (let n = 0; n < 5; n++) {
        expect((await g.call("memory_consolidate", {})).state).toBe("given");
        g.later(6 * MINUTES);
      }
      expect(await g.call("memory_consolidate", {})).toEqual({ state: "nothing_waits" });
      expect(await states(g)).toEqual(["dead_letter 5"]);
    });
  },
  { model: false },
);
