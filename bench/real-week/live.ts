/** Lives through the week: each prompt is one of the real Claude Code, each session a conversation of it, and the jobs run between them. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readExchanges } from "../../src/hosts/transcripts/read.ts";
import type { Part, ScriptedSession, Week } from "../../src/lab/everyday/week/script.ts";
import type { ModelRequest } from "../../test/support/model-apis.ts";
import { runAgent } from "../../test/support/real-agents.ts";
import { agentVariables, butler, layReady, type WeekDesk } from "./desk.ts";
import type { PromptRecord, SessionRecord } from "./records.ts";

const SIX_HOURS = 6 * 3_600_000;
const MINUTE = 60_000;
const JOBS = ["consolidate", "promote", "decay_sweep", "episode_cleanup"];
/** Where the week's file has no answer. */
const SILENT = "Good.";

const BLOCK = /<butler-memory>[\s\S]*?<\/butler-memory>/g;

export async function liveRealWeek(desk: WeekDesk, { sessions }: Week, say: (line: string) => void) {
  const lived: SessionRecord[] = [];
  let learnedAt = sessions[0]?.at.getTime() ?? 0;
  for (const [nth, scripted] of sessions.entries()) {
    for (; learnedAt + SIX_HOURS <= scripted.at.getTime(); learnedAt += SIX_HOURS)
      await work(desk, new Date(learnedAt + SIX_HOURS));
    const prompts = await liveSession(desk, scripted);
    lived.push({ session: nth + 1, at: scripted.at.toISOString(), prompts });
    say(`session ${nth + 1} of ${sessions.length}: ${prompts.map(({ told }) => told.length).join(", ")} lines`);
  }
  const evening = new Date(learnedAt + SIX_HOURS);
  await work(desk, evening);
  return { lived, evening };
}

async function work(desk: WeekDesk, now: Date): Promise<void> {
  for (const job of JOBS) await butler(desk, ["job", "run", job], now);
}

async function liveSession(desk: WeekDesk, { at, parts }: ScriptedSession): Promise<PromptRecord[]> {
  // The hooks do not say what time it is: the owner has to know.
  await butler(desk, ["stop"], at);
  await butler(desk, ["search", "anything"], at);
  const seen = new Set<string>();
  const records: PromptRecord[] = [];
  for (const [nth, { prompt, rest }] of turnsOf(parts).entries()) {
    const answer = rest.findLast((part) => part.kind === "agent")?.text ?? SILENT;
    desk.api.says(answer, layReady(desk, rest));
    const time = new Date(at.getTime() + nth * MINUTE);
    const said = await runAgent("claude-code", desk, { prompt, goesOn: nth > 0 }, agentVariables(desk, at, time));
    const [first] = desk.api.taken().filter(({ main }) => main);
    if (said.code !== 0 || first === undefined) throw new Error(`"${prompt}": ${said.code} ${said.stderr}`);
    records.push({ prompt, told: newLines(first, seen) });
    await stored(desk, at);
  }
  return records;
}

interface PlayedTurn {
  readonly prompt: string;
  /** What the agent did and answered. */
  readonly rest: readonly Part[];
}

/** `/clear` at the start of a session is what a new conversation is. */
function turnsOf(parts: readonly Part[]): PlayedTurn[] {
  const turns: { prompt: string; rest: Part[] }[] = [];
  for (const part of parts) {
    if (part.kind === "user") turns.push({ prompt: part.text, rest: [] });
    else turns.at(-1)?.rest.push(part);
  }
  return turns.filter(({ prompt }) => !prompt.startsWith("/"));
}

function newLines({ text }: ModelRequest, seen: Set<string>): string[] {
  const blocks = (text.match(BLOCK) ?? []).filter((block) => !seen.has(block));
  for (const block of blocks) seen.add(block);
  return blocks.flatMap((block) => block.split("\n")).filter((line) => line.startsWith("- "));
}

/** What was said is stored in the background: the next prompt would not know of it on a slow machine. */
async function stored(desk: WeekDesk, now: Date): Promise<void> {
  const expected = await exchangesOf(desk);
  for (let tries = 0; tries < 200; tries++) {
    const stats = JSON.parse(await butler(desk, ["call", "memory_stats", "--json", '{"scope":"*"}'], now));
    if (stats.episodes.total >= expected) return;
    await new Promise((done) => setTimeout(done, 250));
  }
  throw new Error(`${expected} exchanges are in the transcripts, and not all of them were stored.`);
}

async function exchangesOf({ user }: WeekDesk): Promise<number> {
  const folder = join(user, ".claude", "projects");
  const keys = new Set<string>();
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((one) => one.endsWith(".jsonl")))
    for await (const { key } of readExchanges({ agent: "claude-code", path: join(folder, name), final: true }))
      keys.add(key);
  return keys.size;
}
