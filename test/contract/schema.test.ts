/** The schema stands in test/schema.sql. After a migration: `UPDATE_SCHEMA=1 npx vitest run test/contract/schema.test.ts`. */
import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { VALIDITY } from "../../src/engine/domain/lifecycle/lifecycle.ts";
import { SECURED } from "../../src/engine/store/access/row-security.ts";
import { dumpSchema } from "../support/schema-dump.ts";
import { type Guest, onOneRig } from "../support/tenants.ts";

const FILE = new URL("../schema.sql", import.meta.url);

const fact = { subject: "user", predicate: "name", content: "Ada" };
async function furnish(g: Guest) {
  const episode = await g.call("memory_store_episode", { content: "Something" });
  await g.call("memory_store_fact", { ...fact, source_episode_id: episode.id });
  const rule = await g.call("memory_store_rule", { content: "Be kind" });
  await g.call("memory_mark_helpful", { rule_id: rule.id });
}

/** Each column with a closed set of values, or a range, and one value outside of it. */
const ENUMS: readonly [table: string, column: string, bad: string][] = [
  ["episodes", "tier", "'forever'"],
  ["episodes", "consolidation_status", "'done'"],
  ["episodes", "validity", "'fading'"],
  ["facts", "validity", "'forgotten'"],
  ["facts", "permanence", "'eternal'"],
  ["rules", "maturity", "'wise'"],
  ["rules", "validity", "'superseded'"],
  ["rule_applications", "outcome", "'neutral'"],
  ["memory_links", "relation", "'likes'"],
  ["memory_links", "source_type", "'note'"],
  ["memory_links", "target_type", "'note'"],
  ["facts", "confidence", "1.01"],
  ["facts", "decay_rate", "-1"],
  ["facts", "importance", "11"],
  ["rules", "confidence", "-0.1"],
  ["rules", "applied_count", "7"],
  ["rules", "effectiveness_score", "2"],
  ["episodes", "importance", "-1"],
  ["episodes", "reference_count", "-1"],
  ["episodes", "metadata", "'[]'"],
  ["episodes", "content", "''"],
];

const PROVENANCE: readonly [table: string, column: string][] = ["episodes", "facts", "rules"].flatMap((table) =>
  ["tenant_id", "source_butler", "source", "created_at"].map((column): [string, string] => [table, column]),
);

onOneRig(
  "the schema",
  (guest, store) => {
    it("is the one on file", async () => {
      const g = guest();
      const dump = await dumpSchema(g.db);
      if (process.env.UPDATE_SCHEMA === "1" && store === "PGlite") writeFileSync(FILE, dump);
      expect(dump).toBe(readFileSync(FILE, "utf8"));
    });

    it("keeps tenants apart in every table that holds something of theirs", async () => {
      const g = guest();
      const tables = await g.db.query<{ name: string; held: boolean; forced: boolean; policies: string[]; of: string }>(
        `select c.relname as name, c.relrowsecurity and c.relforcerowsecurity as forced,
           exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id') as held,
           array(select p.polname::text from pg_policy p where p.polrelid = c.oid order by 1) as policies,
           (select pg_get_expr(p.polqual, c.oid) from pg_policy p where p.polrelid = c.oid and p.polname = 'of_tenant') as of
         from pg_class c where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace order by 1`,
      );
      // A new table with a tenant, or with entries of a tenant's shelf, belongs into SECURED; one of neither has a reason here.
      const whole = ["change_log", "embedding_versions", "job_runs", "mem_migrations", "mem_migrations_lock"];
      expect(tables.filter(({ forced }) => !forced).map(({ name }) => name)).toEqual(whole);
      expect(tables.filter(({ forced }) => forced).map(({ name }) => name)).toEqual(Object.keys(SECURED).toSorted());
      for (const { name, held, forced, policies, of } of tables) {
        expect(held, name).toBe(forced);
        expect(policies, name).toEqual(forced ? ["of_tenant", "whole_store"] : []);
        if (forced) expect(of, name).toMatch(/butler\.tenant|FROM shelves/);
      }
    });

    it.each(ENUMS)("%s.%s refuses %s", async (table, column, bad) => {
      const g = guest();
      await furnish(g);
      const change = g.db.query(`update ${table} set ${column} = ${bad} where tenant_id = $1`, [g.tenant]);
      await expect(change).rejects.toMatchObject({ code: "23514" });
    });

    it.each([
      [
        "embedding_versions.variant",
        "insert into embedding_versions (model, variant, dimensions, sha256, created_at) values ('m', 'int4', 1, repeat('a', 64), now())",
      ],
      [
        "embedding_versions.state",
        "insert into embedding_versions (model, variant, dimensions, sha256, state, created_at) values ('m', 'int8', 1, repeat('a', 64), 'new', now())",
      ],
      ["shelves.type", "insert into shelves (tenant_id, scope, type) values ('t', 's', 'note')"],
      [
        "memory_events.entity_type",
        "insert into memory_events (id, tenant_id, butler, scope, event_type, entity_type, entity_id, occurred_at, actor, payload) values (gen_random_uuid(), 't', 'b', 's', 'e', 'note', gen_random_uuid(), now(), 'a', '{}')",
      ],
      [
        "lex_doc.state",
        "insert into lex_doc (memory_id, sk, len, state, x, tenant_id) select gen_random_uuid(), sk, 0, 3, '', tenant_id from shelves limit 1",
      ],
    ])("%s refuses an unknown value", async (_, statement) => {
      const g = guest();
      await furnish(g);
      await expect(g.db.query(statement)).rejects.toMatchObject({ code: "23514" });
    });

    it.each(PROVENANCE)("%s.%s cannot be left out", async (table, column) => {
      const g = guest();
      await furnish(g);
      const change = g.db.query(`update ${table} set ${column} = null where tenant_id = $1`, [g.tenant]);
      await expect(change).rejects.toMatchObject({ code: "23502" });
    });

    describe("a forgotten memory", () => {
      it.each(["episodes", "facts", "rules"])("of %s says when", async (table) => {
        const g = guest();
        await furnish(g);
        const set = (what: string) => g.db.query(`update ${table} set ${what} where tenant_id = $1`, [g.tenant]);
        await expect(set("validity = 'retracted'")).rejects.toMatchObject({ code: "23514" });
        await expect(set("forgotten_at = now()")).rejects.toMatchObject({ code: "23514" });
      });
    });

    it("one live fact per tenant, scope, subject and predicate", async () => {
      const g = guest();
      const { id } = await g.call("memory_store_fact", fact);
      const copy = (validity: string) =>
        g.db.query(
          `insert into facts select (jsonb_populate_record(f, jsonb_build_object('id', gen_random_uuid(),
           'validity', $2::text, 'forgotten_at', case when $2::text = 'retracted' then now() end))).* from facts f where id = $1`,
          [id, validity],
        );
      for (const validity of VALIDITY) {
        if (validity === "active" || validity === "fading")
          await expect(copy(validity)).rejects.toMatchObject({ code: "23505" });
        else await copy(validity);
      }
    });
  },
  { model: false },
);
