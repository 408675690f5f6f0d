/** Memories with everything that the pages can show: `general` has examples, months of life and sessions of an agent, `health` texts that attack a page. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { vi } from "vitest";
import { installHooks } from "../agent-hooks.ts";
import { PATIENCE } from "../patience.ts";
import { transcript } from "../transcript.ts";
import type { House } from "./house.ts";
import { livePast } from "./past.ts";
import type { Answer, Person } from "./person.ts";

const GENERAL = "/api/butlers/general";
const HEALTH = "/api/butlers/health";
export const PROJECT = "example.com/shop/kassa";

/** What somebody may store. Each must be shown as the text that it is. */
export const HOSTILE: Readonly<Record<string, string>> = {
  script: "<script>window.intruded = 1; alert(1)</script>",
  image: '"><img src=x onerror="window.intruded = 1">',
  link: "[click](javascript:window.intruded=1) <a href='javascript:alert(1)'>here</a>",
  template: "{{constructor.constructor('window.intruded = 1')()}}",
  rtl: "שלום עולם – مرحبا بالعالم ‮txt.exe",
  emoji: "👩‍👩‍👧‍👦 🏳️‍🌈 🇦🇹 party 🎉",
  combining: `Z${"\u0341\u0329\u0353\u0318".repeat(12)}algo text with many marks`,
  newline: "first line\nsecond line\n\n\nafter an empty one",
  word: "w".repeat(7_900),
};

export const LONG_WORD = "x".repeat(99_000);
export const LONG_PREDICATE = `a very long predicate ${"that goes on and on ".repeat(11)}`.slice(0, 250).trim();

/** Sessions of an agent that was told memories. */
export const SESSIONS = ["agent-release", "agent-worker"] as const;

/** Everybody is signed out after it. */
export async function seed(house: House, admin: Person): Promise<void> {
  await admin.api("POST", `${GENERAL}/memory/examples`);
  await agentSessions(house, admin);
  const told = { subject: "Ada", predicate: "runs", content: "five kilometres every other day" };
  await admin.api("POST", `${HEALTH}/tools/memory_store_fact`, told);
  await house.whileStopped(() => livePast(house));
}

export interface Hostile {
  /** Ids of facts by name of `HOSTILE`. */
  readonly facts: Readonly<Record<string, string>>;
  readonly rule: string;
  /** The episode with a word of 99,000 letters. */
  readonly episode: string;
}

const call = (admin: Person, tool: string, input: object): Promise<Answer> =>
  admin.api("POST", `${HEALTH}/tools/${tool}`, input);

/** In `health`. */
export async function storeHostile(admin: Person): Promise<Hostile> {
  const facts: Record<string, string> = {};
  for (const [name, content] of Object.entries(HOSTILE)) {
    const told = { subject: `hostile ${name}`, predicate: "says", content, tags: ["hostile"] };
    facts[name] = (await call(admin, "memory_store_fact", told)).id;
  }
  const { script = "", image = "" } = HOSTILE;
  const keys = { subject: script, predicate: image, content: "keys attack too", tags: [script.slice(0, 60)] };
  facts.keys = (await call(admin, "memory_store_fact", keys)).id;
  const long = { subject: "hostile predicate", predicate: LONG_PREDICATE, content: "long" };
  facts.predicate = (await call(admin, "memory_store_fact", long)).id;
  const rule = await call(admin, "memory_store_rule", { content: `${script} ${image}`, tags: ["hostile"] });
  const episode = { content: LONG_WORD, session_id: image, tags: ["hostile"] };
  return { facts, rule: rule.id, episode: (await call(admin, "memory_store_episode", episode)).id };
}

/** Two sessions of Claude Code in the project of the examples, through the installed hooks. */
async function agentSessions(house: House, admin: Person): Promise<void> {
  const { home, variables } = house;
  const hooks = await installHooks(home, variables, ["--butler", "general"]);
  mkdirSync(join(hooks.project, ".git"), { recursive: true });
  writeFileSync(join(hooks.project, ".git", "config"), `[remote "origin"]\n  url = https://${PROJECT}.git\n`);
  writeFileSync(join(hooks.project, ".git", "HEAD"), "ref: refs/heads/main\n");
  const prompts = ["Who has to approve the next release of kassa?", "How do I restart the payment worker?"];
  // Hooks are the same on every store, and each is a process.
  const ids = house.store === "PGlite" ? SESSIONS : SESSIONS.slice(0, 1);
  for (const [nth, id] of ids.entries()) {
    const prompt = prompts[nth] ?? "";
    const said = transcript(join(home, `${id}.jsonl`), id, hooks.project);
    const common = { session_id: id, transcript_path: said.path };
    await hooks.fire("SessionStart", { ...common, source: "startup" });
    await hooks.fire("UserPromptSubmit", { ...common, prompt });
    said.user(prompt);
    said.agent("Petra approves it; drain the queue before you restart the worker.");
    await hooks.fire("Stop", common);
    await hooks.fire("SessionEnd", { ...common, reason: "other" });
  }
  await vi.waitFor(
    async () => {
      const { sessions } = await admin.api("GET", `${GENERAL}/memory/sessions`);
      const done = sessions.filter((one: Answer) => ids.includes(one.id) && one.told.length > 0 && one.episodes > 0);
      if (done.length < ids.length) throw new Error(`sessions so far: ${JSON.stringify(sessions)}`);
    },
    { ...PATIENCE, interval: 500 },
  );
}
