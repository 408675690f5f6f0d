/** Hooks at their endpoint, with inputs that nearly fit: each is answered or refused in words, nothing unfit is stored, and nothing is kept in memory. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Principal } from "../../src/doors/backend.ts";
import { AGENT_NAMES, HOOK_DIALECTS } from "../../src/hosts/hooks/dialects.ts";
import { failedRows, waitingRows } from "../../src/hosts/hooks/spool/rows.ts";
import { anyText, anyValue, fuzzed, spoiled } from "../support/fuzz.ts";
import { watchHeap } from "../support/heap.ts";
import type { Dice } from "../support/hostile/attempts.ts";
import { type Answer, send, sendText } from "../support/hostile/world.ts";
import { verifyInScratch } from "../support/scratch.ts";
import { type Served, serveRig } from "../support/served.ts";
import { onEachStore } from "../support/stores.ts";
import { transcript } from "../support/transcript.ts";

const TOKEN = "bm_fuzz";
const WRITER: Principal = { name: "writer", tenant: "north", butler: "general", admin: false, voice: "agent" };
const EVENTS = AGENT_NAMES.flatMap((agent) =>
  Object.keys(HOOK_DIALECTS[agent].events).map((event) => ({ agent, event })),
);
const TEXTS = ["prompt", "prompt_response", "reply", "last_assistant_message", "message"];
const NAMES = [
  "session_id",
  "conversation_id",
  "sessionID",
  "cwd",
  "workspace_roots",
  "directory",
  "source",
  "reason",
  "parts",
];
/** Long enough that a thousand of them would be seen if they were kept. */
const LONG = "The harbour gate is opened by the keeper at nine. ".repeat(400);
const SENTENCES = [
  "Please note that the office moved to Graz.",
  "We always run the tests first.",
  "Thanks, that is done.",
  LONG,
];

function textOf(d: Dice): unknown {
  if (d.chance(0.15)) return anyValue(d);
  return d.chance(0.5) ? `${d.one(SENTENCES)} ${d.below(1_000)}` : anyText(d);
}

function bodyOf(d: Dice, files: readonly string[]): string {
  const named = NAMES.filter(() => d.chance(0.8)).map((name) => [
    name,
    d.chance(0.8) ? d.one(["s1", "s2", "/tmp/app", "../s1", "startup", "/"]) : anyValue(d),
  ]);
  const told = TEXTS.filter(() => d.chance(0.7)).map((name) => [name, textOf(d)]);
  const read = d.chance(0.4) ? [["transcript_path", d.chance(0.9) ? d.one(files) : anyValue(d)]] : [];
  const body = JSON.stringify(Object.fromEntries([...named, ...told, ...read]));
  return d.chance(0.1) ? spoiled(d, body) : d.chance(0.03) ? anyText(d) : body;
}

/** Of a header only what Node lets through, as bytes. */
const headerOf = (text: string): string =>
  Buffer.from(text.slice(0, 200))
    .toString("latin1")
    .replace(/\p{Cc}/gu, "");

function hook(d: Dice, served: Served, files: readonly string[]): Promise<Answer> {
  const { agent, event } = d.one(EVENTS);
  const names = [d.chance(0.97) ? agent : anyText(d), d.chance(0.95) ? event : anyText(d)];
  const query = new URLSearchParams({
    ...(d.chance(0.9) ? { butler: d.chance(0.95) ? "general" : anyText(d).slice(0, 300) } : {}),
    ...(d.chance(0.1) ? { gone: d.one(["1772366400", "0", "-1", "x", "1e400", ""]) } : {}),
  });
  const path = `/hooks/${names.map((name) => encodeURIComponent(Buffer.from(name.slice(0, 500)).toString()) || "x").join("/")}?${query}`;
  const headers = {
    ...(d.chance(0.3) ? { "x-butler-project": d.chance(0.5) ? "forge.example/acme/app" : headerOf(anyText(d)) } : {}),
    ...(d.chance(0.2) ? { "x-butler-given": d.chance(0.5) ? `12:${d.below(9)}` : headerOf(anyText(d)) } : {}),
  };
  if (d.chance(0.5)) return sendText({ port: served.ownAddress }, { path, headers }, bodyOf(d, files));
  const authorization = `Bearer ${d.chance(0.98) ? TOKEN : headerOf(anyText(d))}`;
  return sendText({ port: served.address }, { path, headers: { ...headers, authorization } }, bodyOf(d, files));
}

const CODES = new Set(["invalid_input", "forbidden", "not_found", "unauthorized"]);

onEachStore("hooks at their endpoint", (open, store) => {
  it("with inputs that nearly fit", async () => {
    const rig = await open({ model: false });
    await rig.call("memory_store_fact", { subject: "office", predicate: "is in", content: "Graz" });
    const served = await serveRig(rig, new Map([[TOKEN, WRITER]]));
    const said = transcript(join(served.home.root, "..", "one.jsonl"), "s1", "/tmp/app");
    said.user("Please note that the harbour opens at nine.");
    said.agent("Noted.");
    mkdirSync(served.home.root, { recursive: true });
    writeFileSync(served.home.tokenFile, "bm_home-secret-wqtokenzx\n");
    // The transcript is named by a hook once for certain.
    const ended = { session_id: "s1", cwd: "/tmp/app", transcript_path: said.path };
    const named = await send(
      { port: served.ownAddress },
      { path: "/hooks/claude-code/Stop?butler=general", body: ended },
    );
    expect(named.status).toBe(204);
    // A header is bytes, and a project is what was sent.
    const spoken = { session_id: "s9", cwd: "/", prompt: "We keep the tea in the kitchen.", prompt_response: "Noted." };
    const headers = { "x-butler-project": Buffer.from("küche").toString("latin1"), authorization: `Bearer ${TOKEN}` };
    const told = { path: "/hooks/gemini/AfterAgent?butler=general", body: spoken, headers };
    expect((await send({ port: served.address }, told)).status).toBe(204);
    const elsewhere = { ...told, headers: { ...headers, "x-butler-tenant": "south" } };
    expect((await send({ port: served.address }, elsewhere)).status).toBe(403);
    const files = [
      said.path,
      served.home.tokenFile,
      "/dev/zero",
      "/dev/full",
      "/proc/self/environ",
      "/",
      "/nowhere.jsonl",
    ];
    const count = store === "PGlite" ? 2_400 : 600;
    const heap = watchHeap(count / 3);
    let [answered, refused] = [0, 0];
    try {
      await fuzzed(count, async (d, told) => {
        const { status, text } = await hook(d, served, files);
        if (status === 200 || status === 204) answered += 1;
        else {
          const { error } = JSON.parse(text) as { error: { code: string; message: string } };
          expect(CODES.has(error.code) && error.message.length > 5, `${told}: ${status} ${text.slice(0, 300)}`).toBe(
            true,
          );
          refused += 1;
        }
        expect(text, told).not.toContain("wqtokenzx");
        await heap.step();
      });
      await served.sweep();
      await rig.settled();
      // A process that kept its inputs would hold 20 MB and more; what it may hold of prompts is four.
      expect(await heap.grown()).toBeLessThan(12_000_000);
      expect(answered).toBeGreaterThan(count / 2);
      expect(refused).toBeGreaterThan(count / 50);
      // Everything that was taken was stored: nothing waits for ever, nothing was given up.
      expect(waitingRows(served.home)).toEqual([]);
      expect(failedRows(served.home)).toEqual([]);
    } finally {
      await served.close();
    }
    const rows = await rig.db.query<{ tenant_id: string; butler: string; content: string; session_id: string | null }>(
      "select tenant_id, butler, content, session_id from episodes",
    );
    expect(rows.length).toBeGreaterThan(20);
    for (const { tenant_id, butler, content, session_id } of rows) {
      expect(["default", "north"]).toContain(tenant_id);
      expect(butler).toMatch(/^general(\/[^\p{Cc}]{1,250})?$/u);
      expect(content).toMatch(/^(User|Agent): \S/);
      expect(content.length).toBeLessThanOrEqual(100_000);
      expect(content).not.toMatch(/wqtokenzx/);
      expect(session_id?.length).toBeLessThanOrEqual(200);
    }
    expect(rows.find(({ content }) => content.includes("tea in the kitchen"))?.butler).toBe("general/k%c3%bcche");
    // A file that is no transcript gives nothing, and one that is gives what stands in it.
    const read = rows.filter(({ content }) => content.includes("harbour opens at nine"));
    expect(read.length).toBeGreaterThan(0);
    expect(new Set(read.map(({ tenant_id }) => tenant_id))).toEqual(new Set(["default"]));
    expect(await verifyInScratch(rig.db)).toMatchObject({ differences: [], orphans: [] });
  });
});
