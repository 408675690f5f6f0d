/** A text that looks like an encrypted one, in any field that somebody else fills, makes no read fail and is not decrypted. */
import { expect, it } from "vitest";
import { onEachStore } from "../support/stores.ts";

const FORGED = "sealed:1:deadbeef:QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFB.";

onEachStore("texts that look encrypted", (open) => {
  for (const redact of [true, false])
    it(`are stored as words, ${redact ? "with" : "without"} redaction`, async () => {
      const rig = await open({ model: false, settings: { privacy: { redact } } });
      const call = (tool: string, input: object) => rig.call(tool, input, { as: { admin: true }, session: FORGED });
      const common = {
        tags: [FORGED],
        metadata: { [FORGED]: FORGED, note: FORGED, deep: [{ content: FORGED, claim: [FORGED] }] },
      };
      const request_context = { request_id: FORGED, segment_id: FORGED };
      const said = { session_id: FORGED, speaker: FORGED, idempotency_key: FORGED, request_context };
      const episode = await call("memory_store_episode", { content: `${FORGED} harbour`, ...common, ...said });
      await call("memory_ingest_batch", {
        episodes: [{ content: FORGED, ...common, session_id: FORGED, speaker: FORGED }],
      });
      const fact = await call("memory_store_fact", {
        subject: FORGED,
        predicate: FORGED,
        content: "harbour",
        ...common,
      });
      const rule = await call("memory_store_rule", { content: `Mind the harbour ${FORGED}`, tags: [FORGED] });
      await call("memory_mark_harmful", { rule_id: rule.id, reason: FORGED });
      await call("memory_forget", { id: fact.id, reason: FORGED });
      await call("memory_restore", { id: fact.id });
      await rig.settled();
      for (const { id } of [episode, fact, rule]) {
        await call("memory_get", { id });
        await call("memory_get", { id, as_of: "2026-03-01T12:00:00Z" });
        await call("memory_why", { id, query: "harbour" });
        await call("view_memory", { id });
      }
      const found = await call("memory_search", { query: "harbour", mode: "keyword", scope: "*", explain: true });
      expect(found.results.length).toBeGreaterThan(2);
      await call("memory_search", { query: "harbour", as_of: "2026-03-01T12:00:00Z", scope: "*" });
      await call("memory_context", { trigger_prompt: "harbour" });
      await call("memory_context", { trigger_prompt: "harbour", opening: true });
      await call("memory_activity_stream", { scope: "*", limit: 1000 });
      await call("memory_activity_stream", { scope: "*", changes: true });
      for (const view of [
        "view_facts",
        "view_rules",
        "view_episodes",
        "view_activity",
        "view_today",
        "view_review",
        "view_subjects",
      ])
        await call(view, {});
      await call("control_undo", { session: FORGED.replace("sealed:1:", "sealed 1 "), dry_run: true });
      await call("control_export", { subject: "harbour" });
      expect(JSON.stringify(found)).not.toContain("(encrypted)");
    });
});
