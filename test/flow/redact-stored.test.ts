/** What a policy finds in what is stored already is taken out of every row, payload, word and vector, and the stream still rebuilds the rows. */
import { expect, it } from "vitest";
import { consolidate } from "../../src/engine/memory/learn/consolidate.ts";
import { asOwner } from "../../src/engine/memory/tenancy.ts";
import { runJob } from "../support/job-runs.ts";
import { verifyInScratch } from "../support/scratch.ts";
import { fact, labelled, scripted } from "../support/scripted-extractor.ts";
import { type Guest, onOneRig } from "../support/tenants.ts";

const TABLES = [
  "episodes",
  "facts",
  "rules",
  "rule_applications",
  "consolidation_runs",
  "memory_events",
  "idempotency_keys",
];
const HIDDEN = ["tqvorlin", "kelmarth"];
const ADMIN = { as: { admin: true } } as const;

/** Where the words still stand. */
async function standing(g: Guest): Promise<string[]> {
  const found: string[] = [];
  for (const table of TABLES) {
    const rows = await asOwner(g.memory, "lab").query<{ row: string }>(
      `select t::text as row from ${table} t where tenant_id = $1`,
      [g.tenant],
    );
    if (rows.some(({ row }) => HIDDEN.some((word) => row.toLowerCase().includes(word)))) found.push(table);
  }
  return found;
}

const EMAIL = "anna.tqvorlin@kelmarth.example";

const EPISODE = {
  content: `My address is ${EMAIL}, write to it about the harbour ferry.`,
  ...{ speaker: "user", session_id: "s", metadata: { contact: EMAIL }, idempotency_key: "one" },
};

/** Stored while e-mail addresses were kept. */
async function remember(g: Guest): Promise<Record<"episode" | "fact" | "rule", string>> {
  const episode = await g.call("memory_store_episode", EPISODE);
  const { extractor } = scripted((material) => ({
    facts: [fact("mail", `The user reads ${EMAIL} for the harbour ferry.`, [labelled(material, "My address")])],
  }));
  await runJob(g, consolidate, { extractor });
  const known = await g.call("memory_store_fact", {
    subject: EMAIL,
    predicate: "belongs to",
    content: "Anna, of the lighthouse",
  });
  await g.call("memory_store_fact", { subject: `other-${EMAIL}`, predicate: "belongs to", content: "Anna too" });
  await g.call(
    "memory_store_fact",
    { subject: EMAIL, predicate: "belongs to", content: `nobody, says ${EMAIL}`, idempotency_key: "two" },
    { as: { voice: "agent" } },
  );
  const rule = await g.call("memory_store_rule", { content: `Send the invoices to ${EMAIL}.` });
  await g.call("memory_store_rule", { content: `Send the invoices to other-${EMAIL}.` });
  await g.call("memory_mark_harmful", { rule_id: rule.id, reason: `${EMAIL} bounced`, session_id: "s" });
  await g.call("memory_forget", { type: "rule", id: rule.id, reason: `${EMAIL} is old` });
  await g.call("memory_restore", { type: "rule", id: rule.id });
  return { episode: episode.id, fact: known.id, rule: rule.id };
}

onOneRig("redaction of what is stored", (guest) => {
  it("counts by kind and place, changes nothing until it is told to, and then leaves no trace", async () => {
    const g = guest();
    const other = guest();
    const ids = await remember(g);
    await remember(other);
    const strict = { ...g.memory.settings, privacy: { ...g.memory.settings.privacy, also: ["email" as const] } };
    const kept = g.memory.settings;
    Object.defineProperty(g.memory, "settings", { value: strict, configurable: true, writable: true });
    try {
      const reader = await g.refused("control_redaction", { dry_run: true }, { as: { admin: false } });
      expect(reader.code).toBe("forbidden");
      const before = await standing(g);
      expect(before).toEqual(TABLES);
      const seen = await g.call("control_redaction", { dry_run: true }, ADMIN);
      expect(await standing(g)).toEqual(before);
      expect(JSON.stringify(seen)).not.toMatch(/tqvorlin|kelmarth/);
      expect(new Set(seen.found.map((one: { where: string }) => one.where))).toEqual(new Set(TABLES));
      expect(new Set(seen.found.map((one: { kind: string }) => one.kind))).toEqual(new Set(["email"]));
      expect(seen.memories).toEqual(expect.arrayContaining([{ type: "fact", id: ids.fact }]));
      const done = await g.call("control_redaction", {}, ADMIN);
      expect(done).toMatchObject({ dry_run: false, rows: seen.rows, receipt_id: expect.any(String) });
      expect(await standing(g)).toEqual([]);
      // Another tenant's rows are as they were.
      expect(await standing(other)).toEqual(before);
      expect((await g.call("memory_get", { id: ids.episode })).memory.content).toBe(
        "My address is [redacted:email], write to it about the harbour ferry.",
      );
      const words = await g.call("memory_search", { query: "tqvorlin kelmarth", mode: "keyword" });
      expect(words.results).toEqual([]);
      const meaning = await g.call("memory_search", { query: "who is told of the harbour ferry?" });
      expect(meaning.results.map((one: { id: string }) => one.id)).toContain(ids.episode);
      const [vectors] = await g.db.query<{ n: number }>(
        `select count(*)::int4 as n from lex_doc d where d.state <> 2 and d.memory_id = any($1::uuid[])
             and not exists (select from embeddings e where e.memory_id = d.memory_id)`,
        [Object.values(ids)],
      );
      expect(vectors?.n).toBe(0);
      const changes = async () =>
        (await g.events()).map(({ event_type }) => event_type).filter((type) => type !== "memory.referenced");
      const told = await changes();
      expect(told).toEqual(
        expect.arrayContaining(["fact.redacted", "rule.redacted", "episode.redacted", "erasure.done"]),
      );
      expect((await g.call("memory_get", { id: ids.fact, as_of: g.now.toISOString() })).memory.content).toContain(
        "Anna",
      );
      expect(await g.call("view_receipts", {})).toEqual({ receipts: 1, faults: [] });
      // A second look finds nothing, and writes nothing.
      const again = await g.call("control_redaction", {}, ADMIN);
      expect(again).toMatchObject({ found: [], receipt_id: null });
      expect(await changes()).toEqual(told);
      // A call that is repeated under its key gets the answer that was kept.
      expect(await g.call("memory_store_episode", EPISODE)).toMatchObject({ id: ids.episode });
    } finally {
      Object.defineProperty(g.memory, "settings", { value: kept, configurable: true, writable: true });
    }
    const { equal, differences, orphans, receipts } = await verifyInScratch(asOwner(g.memory, "replay"));
    expect([differences, orphans, receipts.faults, equal]).toEqual([[], [], [], true]);
  });
});
