import { expect, it } from "vitest";
import type { Db } from "../../src/adapters/db/port.ts";
import { type Guest, inOneHouse } from "../support/guests.ts";

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

inOneHouse("redaction", (guest) => {
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

  it("leaves ordinary words alone", async () => {
    const g = guest();
    const content = "The password policy asks for 12 characters; token budgets are in the docs.";
    const { id, redactions } = await g.call("memory_store_episode", { content });
    expect(redactions).toEqual([]);
    expect((await g.row("episodes", id))?.content).toBe(content);
  });
});

inOneHouse(
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
