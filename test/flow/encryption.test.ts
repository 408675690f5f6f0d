/** Facts of some predicates are encrypted wherever they are stored, and plain to whoever may read them. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { openPglite, type PgliteDb } from "../../src/engine/adapters/db/pglite.ts";
import type { Db } from "../../src/engine/adapters/db/port.ts";
import { openVault } from "../../src/engine/adapters/vault/aes.ts";
import { lexemes } from "../../src/engine/domain/text/lexemes.ts";
import { rekey } from "../../src/engine/memory/keep/rekey.ts";
import { verifyReplay } from "../../src/engine/memory/past/replay.ts";
import { retention } from "../../src/engine/memory/retention/retention.ts";
import { runJob } from "../support/job-runs.ts";
import { migratedSnapshot, onEachStore, openRig, type Rig } from "../support/stores.ts";

const TABLES = ["episodes", "facts", "rules", "rule_applications", "memory_links", "episode_references"];
const [FIRST = "", SECOND = ""] = [randomBytes(32).toString("base64"), randomBytes(32).toString("hex")];
const settings = { privacy: { encrypt_predicates: ["Diagnosis"] } };
const WORDS = ["Zyxqualor", "Brimthwaite", "Quorvanek"];
const NEEDLES = [...new Set(WORDS.flatMap((word) => [word.toLowerCase(), ...lexemes(word)]))];

let opened: Promise<PgliteDb> | undefined;
afterAll(async () => (await opened)?.close());

async function verified(source: Db): Promise<void> {
  opened ??= migratedSnapshot().then((snapshot) => openPglite({ dir: undefined, snapshot }));
  const scratch = await opened;
  await scratch.exec(`truncate ${TABLES.join(", ")} cascade`);
  const { differences, orphans, checkpoints } = await verifyReplay(source, scratch);
  expect({ differences, orphans, faults: checkpoints.faults }).toEqual({ differences: [], orphans: [], faults: [] });
}

/** Tables in which one of the words stands, in text, JSON or the words of the index. */
async function holding(db: Db): Promise<string[]> {
  const tables = await db.query<{ name: string }>(
    "select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1",
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await db.query<{ text: string }>(`select lower(t::text) as text from ${name} t`);
    if (rows.some(({ text }) => NEEDLES.some((needle) => text.includes(needle)))) found.push(name);
  }
  return found;
}

const AGENT = { as: { voice: "agent" as const } };
const ADMIN = { as: { admin: true } };

/** Everything that a fact can go through. */
async function furnish(rig: Rig): Promise<{ old: string; fact: string }> {
  const about = { subject: "Ann", predicate: "diagnosis", permanence: "permanent", importance: 9 };
  const first = await rig.call(
    "memory_store_fact",
    { ...about, content: "Zyxqualor syndrome" },
    { idempotencyKey: "a" },
  );
  expect((await rig.call("memory_store_fact", { ...about, content: "Zyxqualor syndrome" })).status).toBe("confirmed");
  const next = await rig.call("memory_store_fact", { ...about, content: "Brimthwaite fever" }, { idempotencyKey: "b" });
  expect(next).toMatchObject({ status: "superseded", superseded_id: first.id });
  const claim = { ...about, content: "Quorvanek flu" };
  const claimed = await rig.call("memory_store_fact", claim, { ...AGENT, idempotencyKey: "c" });
  expect(claimed).toMatchObject({ contradicts_id: next.id, note: expect.not.stringContaining("Brimthwaite") });
  expect(await rig.call("memory_store_fact", claim, { ...AGENT, idempotencyKey: "c" })).toEqual(claimed);
  await rig.call("memory_forget", { id: next.id });
  await rig.call("memory_restore", { id: next.id });
  await rig.settled();
  return { old: first.id, fact: next.id };
}

onEachStore("encryption", (open) => {
  it("keeps the words out of every table, and gives them to whoever may read", async () => {
    const rig = await open({ settings, vault: openVault(FIRST) });
    const { old, fact } = await furnish(rig);
    expect(await holding(rig.db)).toEqual([]);
    await verified(rig.db);

    expect((await rig.call("memory_get", { id: fact })).memory.content).toBe("Brimthwaite fever");
    const [found] = (await rig.call("memory_search", { query: "what is Ann's diagnosis" })).results;
    expect(found).toMatchObject({ id: fact, content: "Brimthwaite fever" });
    // From memory, where the store has that, as from the store.
    await rig.memory.readModel.load(rig.memory.versions.serving?.version, "default");
    expect((await rig.call("memory_search", { query: "what is Ann's diagnosis" })).results[0]).toMatchObject({
      id: fact,
      content: "Brimthwaite fever",
    });
    const by = async (query: string) =>
      (await rig.call("memory_search", { query, mode: "keyword", min_relevance: 0 })).results.map(
        ({ id }: { id: string }) => id,
      );
    expect(await by("Brimthwaite")).toEqual([]);
    expect(await by("Ann diagnosis")).toContain(fact);
    expect((await rig.call("memory_context", { trigger_prompt: "Ann's diagnosis" })).text).toContain("Brimthwaite");
    expect((await rig.call("memory_context", { trigger_prompt: "hello", opening: true })).text).not.toContain(
      "Brimthwaite",
    );
    const { events } = await rig.call("memory_activity_stream", { scope: "*" }, ADMIN);
    for (const word of WORDS) expect(JSON.stringify(events)).toContain(word);
    const exported = JSON.stringify(await rig.call("control_export", { subject: "Ann" }, ADMIN));
    for (const word of ["Zyxqualor", "Brimthwaite"]) expect(exported).toContain(word);
    expect(JSON.stringify(await rig.call("view_facts", { scope: "*" }, ADMIN))).toContain("Brimthwaite");
    expect((await rig.call("memory_get", { id: old, as_of: rig.now.toISOString() })).memory.content).toBe(
      "Zyxqualor syndrome",
    );
    rig.later(1);
    await rig.call("memory_store_fact", {
      subject: "Ann",
      predicate: "diagnosis",
      content: "Quorvanek gone",
      request_context: { request_id: "r" },
    });
    await rig.call("control_undo", { request: "r" });
    expect((await rig.call("memory_get", { id: fact })).memory).toMatchObject({
      content: "Brimthwaite fever",
      state: "active",
    });
    rig.later(100);
    await runJob(rig, retention, {
      settings: { ...rig.memory.settings, events: { keep_days: 50, keep_reads_days: 1 } },
    });
    expect(await holding(rig.db)).toEqual([]);
    await verified(rig.db);
    expect((await rig.call("memory_get", { id: fact })).memory.content).toBe("Brimthwaite fever");

    // A text that looks like an encrypted one is only a text.
    const [stored] = await rig.db.query<{ content: string }>("select content from facts where id = $1", [fact]);
    const copied = await rig.call("memory_store_fact", { subject: "x", predicate: "y", content: stored?.content });
    expect((await rig.call("memory_get", { id: copied.id })).memory.content).toContain("sealed 1 ");
    // Nor does a stranger read it who gets it into a row of his.
    const his = await rig.call(
      "memory_store_fact",
      { subject: "x", predicate: "y", content: "z" },
      { as: { tenant: "other" } },
    );
    await rig.db.query("update facts set content = $2 where id = $1", [his.id, stored?.content]);
    const refused = await rig.refused("memory_get", { id: his.id }, { as: { tenant: "other" } });
    expect(refused).toMatchObject({ code: "integrity", message: expect.stringContaining("moved to another tenant") });
  });

  it("says that the key is missing, and changes keys with everything that they have encrypted", async () => {
    const rig = await open({ settings, vault: openVault(FIRST) });
    const { fact } = await furnish(rig);
    const [{ key } = { key: "" }] = await rig.db.query<{ key: string }>(
      "select split_part(content, ':', 3) as key from facts limit 1",
    );
    const without = await openRig(rig.db, { settings });
    const told = { code: "unavailable", message: expect.stringContaining(`key ${key}, which is not at hand`) };
    expect(await without.refused("memory_get", { id: fact })).toMatchObject(told);
    expect(await without.refused("memory_search", { query: "Ann diagnosis" })).toMatchObject(told);
    const another = { subject: "Bo", predicate: "diagnosis:ear", content: "Quorvanek" };
    expect(await without.refused("memory_store_fact", another)).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("there is no key"),
    });
    await without.call("memory_store_fact", { subject: "Bo", predicate: "city", content: "Oslo" });

    const both = await openRig(rig.db, { settings, vault: openVault(`${SECOND}\n${FIRST}\n`) });
    expect((await runJob(both, rekey, { dryRun: true })).counts).toEqual({ encrypted_anew: 3 });
    expect((await runJob(both, rekey)).counts).toEqual({ encrypted_anew: 3 });
    expect((await runJob(both, rekey)).changed).toBe(0);
    await verified(rig.db);
    const second = await openRig(rig.db, { settings, vault: openVault(SECOND) });
    expect((await second.call("memory_get", { id: fact })).memory.content).toBe("Brimthwaite fever");
    const events = JSON.stringify((await second.call("memory_activity_stream", { scope: "*" }, ADMIN)).events);
    for (const word of WORDS) expect(events).toContain(word);
    second.later(100);
    await runJob(second, retention, {
      settings: { ...second.memory.settings, events: { keep_days: 50, keep_reads_days: 1 } },
    });
    await verified(rig.db);
  });

  it("encrypts what was stored before, with its words, vectors and events", async () => {
    const rig = await open({});
    const about = { subject: "Ann", predicate: "diagnosis" };
    await rig.call("memory_store_fact", { ...about, content: "Zyxqualor syndrome" });
    const { id } = await rig.call("memory_store_fact", { ...about, content: "Brimthwaite fever" });
    await rig.call("memory_store_fact", { ...about, content: "Quorvanek flu" }, AGENT);
    expect(await holding(rig.db)).toContain("facts");
    const secret = await openRig(rig.db, { settings, vault: openVault(FIRST) });
    expect((await runJob(secret, rekey)).counts).toEqual({ encrypted: 3 });
    expect(await holding(rig.db)).toEqual([]);
    await verified(rig.db);
    const { results } = await secret.call("memory_search", { query: "Ann's diagnosis" });
    expect(results[0]).toMatchObject({ id, content: "Brimthwaite fever" });
    const words = await secret.call("memory_search", { query: "Brimthwaite", mode: "keyword", min_relevance: 0 });
    expect(words.results).toEqual([]);
  });
});

it("leaves none of the words in the files of an embedded store", async () => {
  const folder = mkdtempSync(join(tmpdir(), "butler-sealed-"));
  const db = await openPglite({ dir: join(folder, "store"), snapshot: await migratedSnapshot(), durable: false });
  const rig = await openRig(db, { settings, vault: openVault(FIRST), model: false });
  await furnish(rig);
  await rig.call("memory_store_fact", { subject: "Ann", predicate: "city", content: "Vextrolding" });
  await rig.memory.close();
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)));
  const holds = (word: string) => files.some((bytes) => bytes.includes(word));
  expect(holds("Vextrolding")).toBe(true);
  for (const word of [...WORDS, ...NEEDLES]) expect(holds(word), word).toBe(false);
  rmSync(folder, { recursive: true });
});
