/** What comes from outside as text is read or refused in words, whatever it is: no exception, no endless work, nothing taken over from a prototype. */
import { expect, it } from "vitest";
import { checkButlerToml } from "../../src/daemon/config/config.ts";
import { checkDaemonToml } from "../../src/daemon/config/daemon-config.ts";
import { configSchema } from "../../src/daemon/config/json-schema.ts";
import { projectKey, remoteKey } from "../../src/doors/project-key.ts";
import { AGENT_NAMES, HOOK_DIALECTS } from "../../src/hosts/hooks/dialects.ts";
import { readGitConfig } from "../../src/hosts/projects/git-config.ts";
import { sessionEventOf } from "../../src/hosts/sessions/read-sessions.ts";
import { claudeCode } from "../../src/hosts/transcripts/claude-code.ts";
import { codex as codexReader } from "../../src/hosts/transcripts/codex.ts";
import { collecting } from "../../src/hosts/transcripts/collect.ts";
import { jsonOf } from "../../src/hosts/transcripts/lines.ts";
import { anyText, anyValue, fitting, fuzzed, type Schema, spoiled } from "../support/fuzz.ts";
import { bent, TRANSCRIPT_ROWS } from "../support/fuzz-transcripts.ts";
import type { Dice } from "../support/hostile/attempts.ts";

const AT = "2026-05-01T10:00:00Z";

it.each(["claude-code", "codex"] as const)("40,000 lines of a transcript of %s", async (agent) => {
  let read = 0;
  await fuzzed(40_000 / 4, (d, told) => {
    const reader = agent === "codex" ? codexReader("/home/dev/shop") : claudeCode("/home/dev/shop");
    const all = collecting(AT);
    // Four lines of one session: a reader remembers what it has read.
    for (let n = 0; n < 4; n++) {
      const row = JSON.stringify(bent(d, d.one(TRANSCRIPT_ROWS[agent])));
      const line = jsonOf(d.chance(0.3) ? spoiled(d, row) : row);
      if (line === undefined) continue;
      try {
        for (const step of reader(line, n * 100)) all.add(step, n * 100);
        read += 1;
      } catch (error) {
        throw new Error(`${told}: ${row}`, { cause: error });
      }
    }
    all.last();
  });
  expect(read).toBeGreaterThan(20_000);
});

const EVENTS = AGENT_NAMES.flatMap((agent) =>
  Object.keys(HOOK_DIALECTS[agent].events).map((event) => ({ agent, event })),
);
const FIELDS = [
  "session_id", "conversation_id", "cwd", "workspace_roots", "transcript_path", "prompt", "prompt_response", "reply",
  "last_assistant_message", "source", "reason", "sessionID", "directory", "message", "parts",
]; // biome-ignore format: a list of names

it("20,000 hook inputs", async () => {
  let understood = 0;
  await fuzzed(20_000, (d, told) => {
    const { agent, event } = d.one(EVENTS);
    const names = FIELDS.filter(() => d.chance(0.7));
    const input = d.chance(0.05)
      ? anyValue(d)
      : Object.fromEntries(names.map((name) => [name, d.chance(0.7) ? `/x/${anyText(d)}` : anyValue(d)]));
    const dialect = HOOK_DIALECTS[agent];
    const reading = dialect.read(d.chance(0.95) ? event : anyText(d), input);
    if (reading !== undefined) {
      understood += 1;
      for (const value of Object.values(reading)) expect(typeof value, told).toBe("string");
    }
    const answer = dialect.answer(event, { context: anyText(d), message: anyText(d) });
    expect(answer === undefined || typeof JSON.stringify(answer) === "string", told).toBe(true);
  });
  expect(understood).toBeGreaterThan(2_000);
});

const TOML = `[butler]
name = "ada"
description = "keeps the books"

[modules.memory]
enabled = true

[modules.memory.eden]
ttl_hours = 48

[modules.memory.retrieval]
context_token_budget = 2000
score_weights = { relevance = 0.5, importance = 0.2, recency = 0.2, confidence = 0.1 }

[modules.memory.redaction]
patterns = [{ name = "badge", pattern = "B-[0-9]{6}" }]
`;

function tomlOf(d: Dice, value: unknown, path: string): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "";
  const plain = Object.entries(value).filter(([, one]) => typeof one !== "object");
  const tables = Object.entries(value).filter(
    ([, one]) => typeof one === "object" && one !== null && !Array.isArray(one),
  );
  const key = (name: string) => (/^\w+$/.test(name) ? name : JSON.stringify(name));
  const lines = plain.map(([name, one]) => `${key(name)} = ${JSON.stringify(one)}`);
  return [`[${path}]`, ...lines, ...tables.map(([name, one]) => tomlOf(d, one, `${path}.${key(name)}`))].join("\n");
}

it("6,000 butler.toml", async () => {
  const { properties = {} } = configSchema() as Schema;
  let good = 0;
  await fuzzed(6_000, (d, told) => {
    const made = Object.entries(properties)
      .map(([name, schema]) => tomlOf(d, fitting(d, schema, ["x"]), name))
      .join("\n");
    const text = d.chance(0.5) ? spoiled(d, TOML) : d.chance(0.8) ? `${made}\n` : spoiled(d, made);
    const checked = checkButlerToml(text, "butler.toml");
    if (checked.ok) good += 1;
    else
      for (const { message, line } of checked.faults)
        expect({ told, says: message.length > 3, line: line === undefined || line > 0 }).toEqual({
          told,
          says: true,
          line: true,
        });
  });
  expect(good).toBeGreaterThan(50);
});

const DAEMON = `[limits]
calls_per_second = 20
burst_seconds = 2

[oauth]
issuer = "https://id.example"
audience = ["butler", "other"]
jwks_url = "https://id.example/keys"
claims = { tenant = "org.tenant" }
fixed = { role = "reader", scopes = ["global"] }
`;

it("4,000 daemon.toml", async () => {
  let good = 0;
  await fuzzed(4_000, (d, told) => {
    const checked = checkDaemonToml(spoiled(d, DAEMON), "daemon.toml");
    if (checked.ok) good += 1;
    else for (const { message } of checked.faults) expect(message.length, told).toBeGreaterThan(3);
  });
  expect(good).toBeGreaterThan(20);
});

const GIT =
  '[core]\n\tbare = false\n[remote "origin"]\n\turl = git@forge.example:acme/app.git ; here\n\tfetch = +refs/*\n[include]\n\tpath = x\n';
const LOG = [
  { started: { id: "s1", butler: "ada", agent: "claude-code", kind: "hook", folder: "/x", at: AT, memory: "used" } },
  { told: { id: "s1", at: AT, ids: ["a"], tokens: 900 } },
  { ended: { id: "s1", at: AT, state: "done", episodes: 2 } },
].map((event) => JSON.stringify(event));

it("10,000 git configurations, project names and lines of the log of sessions", async () => {
  await fuzzed(10_000, (d, told) => {
    for (const { value } of readGitConfig(spoiled(d, GIT))) expect(typeof value, told).toBe("string");
    for (const key of [projectKey(anyText(d)), remoteKey(spoiled(d, "git@forge.example:acme/app.git"))])
      expect(key === undefined || (key.length <= 150 && !/\p{Cc}/u.test(key)), `${told}: ${key}`).toBe(true);
    sessionEventOf(spoiled(d, d.one(LOG)));
  });
});
