import { expect, it } from "vitest";
import type { Db } from "../../src/engine/adapters/db/port.ts";
import { type Guest, onOneRig } from "../support/tenants.ts";

const SECRETS = {
  aws: "AKIAQ7XW3ZK5N2VTLM4P",
  github: "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
  password: "hunter2-Tr0ub4dor",
  url: "postgres://admin:S3cr3tPassw0rd@db.example.org/main",
};

/** Every text, text[], jsonb and bytea column of every table; bytes as the text they may hold. */
async function everything(db: Db): Promise<string> {
  const columns = await db.query<{ table_name: string; column_name: string; data_type: string }>(
    `select table_name, column_name, data_type from information_schema.columns
     where table_schema = current_schema() and data_type in ('text', 'jsonb', 'ARRAY', 'bytea') order by 1, 2`,
  );
  expect(new Set(columns.map((c) => c.table_name)).size).toBeGreaterThan(8);
  const parts = await Promise.all(
    columns.map(async ({ table_name, column_name, data_type }) => {
      const text = data_type === "bytea" ? `encode(${column_name}, 'escape')` : `${column_name}::text`;
      const [row] = await db.query<{ all: string | null }>(
        `select string_agg(${text}, E'\\n') as all from ${table_name}`,
      );
      return `${table_name}.${column_name}: ${row?.all ?? ""}`;
    }),
  );
  return parts.join("\n");
}

const nothingLeft = async (g: Guest) => {
  await g.settled();
  const all = await everything(g.db);
  for (const secret of [...Object.values(SECRETS), "S3cr3tPassw0rd"])
    expect(all.toLowerCase().includes(secret.toLowerCase()), secret).toBe(false);
  return all;
};

onOneRig("redaction", (guest) => {
  it("leaves no secret in any table, wherever it was told", async () => {
    const g = guest();
    const key = (n: number) => ({ idempotencyKey: `call:${n}` });
    const episode = await g.call(
      "memory_store_episode",
      {
        content: `The key is ${SECRETS.aws} and my password: ${SECRETS.password}`,
        tags: [`token=${SECRETS.github}`],
        speaker: `Ada ${SECRETS.aws}`,
        metadata: { url: SECRETS.url, deep: [{ password: SECRETS.password }], [SECRETS.github]: 1 },
      },
      key(1),
    );
    expect(episode.redactions.length).toBeGreaterThan(1);
    const fact = await g.call(
      "memory_store_fact",
      {
        subject: `account ${SECRETS.aws}`,
        predicate: `uses ${SECRETS.github}`,
        content: `Connects to ${SECRETS.url}`,
        tags: [SECRETS.aws],
        metadata: { token: SECRETS.github },
      },
      key(2),
    );
    expect(fact.subject).not.toContain(SECRETS.aws.toLowerCase());
    const rule = await g.call(
      "memory_store_rule",
      { content: `Log in with ${SECRETS.url}`, tags: [SECRETS.github], matcher: { password: SECRETS.password } },
      key(3),
    );
    await g.call("memory_store", { content: `Note ${SECRETS.github}`, tags: [SECRETS.aws] }, key(4));
    await g.call(
      "memory_ingest_batch",
      { episodes: [{ content: `Row ${SECRETS.aws}`, idempotency_key: "row" }] },
      key(5),
    );
    await g.call("memory_mark_helpful", { rule_id: rule.id, note: `worked with ${SECRETS.aws}` }, key(6));
    for (let n = 0; n < 3; n++)
      await g.call("memory_mark_harmful", { rule_id: rule.id, reason: `leaked ${SECRETS.github} ${n}` }, key(7 + n));
    await g.call("memory_forget", { id: fact.id, reason: `contains ${SECRETS.url}` }, key(10));
    await g.call("memory_search", { query: `where is ${SECRETS.aws}` }, key(11));
    await g.call("memory_context", { trigger_prompt: `use ${SECRETS.github}` }, key(12));
    const all = await nothingLeft(g);
    expect(all).toContain("[redacted:");
    expect((await g.row("rules", rule.id))?.maturity).toBe("anti_pattern");
  });

  it("counts each secret once", async () => {
    const g = guest();
    const fact = await g.call("memory_store_fact", {
      subject: `account ${SECRETS.aws}`,
      predicate: "owner",
      content: "Ada",
    });
    expect(fact.redactions.reduce((sum: number, r: { count: number }) => sum + r.count, 0)).toBe(1);
  });

  it("a superseded and a restored fact leak nothing either", async () => {
    const g = guest();
    const fact = { subject: "server", predicate: "password", content: `password: ${SECRETS.password}` };
    await g.call("memory_store_fact", fact);
    await g.call("memory_store_fact", { ...fact, content: "is in the vault" });
    await nothingLeft(g);
  });

  it("keeps no secret in an id or a path, and ids go on working", async () => {
    const g = guest();
    const request_context = {
      request_id: SECRETS.github,
      subrequest_id: `sub ${SECRETS.aws}`,
      segment_id: SECRETS.url,
    };
    const from = { session: `s-${SECRETS.aws}`, project: `host/${SECRETS.github}`, idempotencyKey: SECRETS.github };
    const told = {
      content: "The mill stood still.",
      session_id: SECRETS.github,
      metadata: { cwd: `/home/ada/${SECRETS.github}/src`, project: SECRETS.url },
      request_context,
    };
    const first = await g.call("memory_store_episode", told, from);
    expect(first.request_id).toBe(SECRETS.github);
    const again = await g.call("memory_store_episode", told, from);
    expect(again.id).toBe(first.id);
    await g.refused("memory_store_episode", { ...told, content: "The mill turned." }, from);
    const other = await g.call("memory_store_episode", told, { ...from, idempotencyKey: `${SECRETS.github}2` });
    expect(other).toMatchObject({ id: first.id, duplicate: true });

    const row = { content: "The bees came late.", session_id: SECRETS.aws, idempotency_key: SECRETS.url };
    const batch = { episodes: [row, { ...row, content: "The river rose.", idempotency_key: SECRETS.aws }] };
    const { results } = await g.call("memory_ingest_batch", batch, from);
    const repeated = await g.call("memory_ingest_batch", batch, { ...from, idempotencyKey: "other" });
    const ids = (list: readonly { id: string }[]) => list.map(({ id }) => id);
    expect(ids(repeated.results)).toEqual(ids(results));
    expect(new Set(ids(results)).size).toBe(2);

    const scope = `general/${from.project}`;
    const fact = await g.call(
      "memory_store_fact",
      { subject: "mill", predicate: "state", content: "still", scope },
      from,
    );
    expect(fact.scope).not.toContain(SECRETS.github);
    const found = await g.call("memory_search", { query: "mill", scope }, { project: from.project });
    expect(ids(found.results)).toContain(fact.id);
    expect(ids((await g.call("memory_search", { query: "mill" })).results)).not.toContain(fact.id);

    const rule = await g.call("memory_store_rule", { content: "Oil the wheel.", request_context }, {});
    for (let n = 0; n < 2; n++)
      await g.call("memory_mark_helpful", { rule_id: rule.id, session_id: SECRETS.aws, request_context }, {});
    expect((await g.row("rules", rule.id))?.applied_count).toBe(1);
    await nothingLeft(g);
  });

  it("leaves ordinary ids alone", async () => {
    const g = guest();
    const session = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b";
    const request_context = { request_id: "req_011CSHoEeqs5C35K2UUqR7Fy" };
    const { id } = await g.call(
      "memory_store_episode",
      { content: "The mill stood still.", request_context },
      { session },
    );
    expect(await g.row("episodes", id)).toMatchObject({ session_id: session, ...request_context });
  });

  it("leaves ordinary words alone", async () => {
    const g = guest();
    const content = "The password policy asks for 12 characters; token budgets are in the docs.";
    const { id, redactions } = await g.call("memory_store_episode", { content });
    expect(redactions).toEqual([]);
    expect((await g.row("episodes", id))?.content).toBe(content);
  });
});

onOneRig(
  "redaction switched off",
  (guest) => {
    it("stores what was told", async () => {
      const g = guest();
      const { id, redactions } = await g.call("memory_store_episode", { content: `key ${SECRETS.aws}` });
      expect(redactions).toEqual([]);
      expect((await g.row("episodes", id))?.content).toContain(SECRETS.aws);
    });
  },
  { settings: { privacy: { redact: false } }, only: "embedded" },
);
