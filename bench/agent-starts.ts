/**
 * Cold starts of the real agents: with nobody running, is the block in the first request to the model, and how much later does that request
 * come than from the same agent without memory? The two take turns. The model is one of ours on loopback.
 *
 *   BUTLER_TEST_AGENTS=install npx tsx bench/agent-starts.ts [--runs 20] [--agent codex] [--program <butler.js>] [--warm] [--json]
 */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { openTokenizer } from "../src/engine/adapters/tokenizer/gpt.ts";
import { spread } from "../src/lab/figures.ts";
import { TEST_MODEL_CACHE } from "../test/support/model.ts";
import { type ModelApis, type ModelRequest, modelApis } from "../test/support/model-apis.ts";
import {
  agentsFolder,
  type Desk,
  furnish,
  HANDLING,
  REAL_AGENTS,
  type RealAgent,
  runAgent,
} from "../test/support/real-agents.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "20" },
    agent: { type: "string", multiple: true, default: [...REAL_AGENTS] },
    program: { type: "string", default: "dist/main/butler.js" },
    warm: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});
const RUNS = Number(values.runs);
const PROGRAM = resolve(values.program);
const PROMPT = "Which port does the staging database use?";
const MEMORIES: readonly [string, object][] = [
  ["memory_store_fact", { subject: "user", predicate: "name", content: "Ada", permanence: "permanent" }],
  ["memory_store_fact", { subject: "staging database", predicate: "port", content: "5433", permanence: "stable" }],
  ["memory_store_rule", { content: "Run the tests before you push." }],
  ["memory_store_episode", { content: "We decided to deploy from the release branch on Fridays." }],
];
/** The owner writes what a session starts with a moment after memory has changed. */
const SETTLE_MS = 4_500;

const BLOCK = /(?:<|&lt;)butler-memory(?:>|&gt;)[\s\S]*?(?:<|&lt;)\/butler-memory(?:>|&gt;)/g;

interface Bench {
  readonly agent: RealAgent;
  readonly api: ModelApis;
  readonly variables: Record<string, string>;
  readonly alone: Desk;
  readonly remembering: Desk;
}

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

async function butler({ variables }: Pick<Bench, "variables">, args: readonly string[], cwd: string, home: string) {
  const env = { ...variables, HOME: home, PATH: process.env.PATH };
  const child = spawn(process.execPath, [PROGRAM, ...args], { env, cwd, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
    });
  const code = await new Promise((done) => child.once("close", done));
  if (code !== 0) throw new Error(`butler ${args.join(" ")} ended with ${code}: ${said}`);
  return said;
}

async function prepare(agent: RealAgent, root: string, modules: string): Promise<Bench> {
  const program = HANDLING[agent].program(modules);
  if (program === undefined) throw new Error(`${HANDLING[agent].comesIn} is not installed.`);
  const api = await modelApis();
  const variables = { BUTLER_HOME: join(root, "home"), BUTLER_MODEL_DIR: TEST_MODEL_CACHE, NO_COLOR: "1" };
  const desk = (name: string): Desk => ({
    user: join(root, name),
    project: join(root, "project"),
    url: api.url,
    program,
  });
  const bench = { agent, api, variables, alone: desk("alone"), remembering: desk("remembering") };
  mkdirSync(join(root, "project", ".git"), { recursive: true });
  writeFileSync(join(root, "project", ".git", "HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(root, "project", ".git", "config"), "[core]\n");
  for (const one of [bench.alone, bench.remembering]) {
    mkdirSync(one.user, { recursive: true });
    furnish(agent, one);
  }
  const { project, user } = bench.remembering;
  for (const [tool, input] of MEMORIES)
    await butler(bench, ["call", tool, "--json", JSON.stringify(input)], project, user);
  await butler(bench, ["install", agent], project, user);
  // What an agent writes down at its very first start is not measured.
  for (const one of [bench.alone, bench.remembering]) await runAgent(agent, one, { prompt: PROMPT }, variables);
  await settle(bench);
  api.taken();
  return bench;
}

/** A session starts an owner in the background, two seconds after it: one that came while the next is timed would slow it down, or answer it. */
async function settle(bench: Bench): Promise<void> {
  await pause(SETTLE_MS);
  if (!values.warm) await butler(bench, ["stop"], bench.remembering.project, bench.remembering.user);
}

interface Start {
  readonly ms: number;
  readonly first: ModelRequest;
}

async function start({ agent, api, variables }: Bench, desk: Desk): Promise<Start> {
  const began = performance.now();
  const said = await runAgent(agent, desk, { prompt: PROMPT }, variables);
  const [first] = api.taken().filter(({ main }) => main);
  if (said.code !== 0 || first === undefined) throw new Error(`${agent} ended with ${said.code}: ${said.stderr}`);
  return { ms: first.at - began, first };
}

const blockIn = ({ text }: ModelRequest): string => (text.match(BLOCK) ?? []).join("\n");

async function measure(agent: RealAgent, root: string, modules: string) {
  const bench = await prepare(agent, root, modules);
  const { project, user } = bench.remembering;
  const alone: Start[] = [];
  const remembering: Start[] = [];
  try {
    for (let n = 0; n < RUNS; n++) {
      alone.push(await start(bench, bench.alone));
      remembering.push(await start(bench, bench.remembering));
      await settle(bench);
    }
  } finally {
    await butler(bench, ["stop"], project, user).catch(() => undefined);
    await bench.api.close();
  }
  const without = spread(alone.map(({ ms }) => ms));
  const withMemory = spread(remembering.map(({ ms }) => ms));
  const block = remembering.filter(({ first }) => blockIn(first) !== "").length;
  return {
    agent,
    block,
    of: RUNS,
    without,
    with: withMemory,
    added: withMemory.p50 - without.p50,
    tokens: await tokens(alone, remembering),
  };
}

/** What memory adds to the first request, by part: the tools, the block, and the rest (instructions, the skill's title). */
async function tokens(alone: readonly Start[], remembering: readonly Start[]) {
  const { count } = await openTokenizer("o200k_base");
  const [without] = alone;
  const found = remembering.find(({ first }) => blockIn(first) !== "") ?? remembering[0];
  if (without === undefined || found === undefined) return undefined;
  const tools = ({ first }: Start) => count(JSON.stringify(first.body.tools ?? []));
  const block = count(blockIn(found.first));
  return {
    tools: tools(found) - tools(without),
    block,
    rest: count(found.first.text) - count(without.first.text) - block,
  };
}

const modules = await agentsFolder(process.env.BUTLER_TEST_AGENTS ?? "install");
for (const agent of REAL_AGENTS.filter((name) => values.agent.includes(name))) {
  const root = mkdtempSync(join(tmpdir(), `starts-${agent}-`));
  try {
    const found = await measure(agent, root, modules);
    process.stdout.write(values.json ? `${JSON.stringify(found)}\n` : `${lineOf(found)}\n`);
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

function lineOf({
  agent,
  block,
  of,
  without,
  with: remembering,
  added,
  tokens: parts,
}: Awaited<ReturnType<typeof measure>>) {
  const times = `first request after ${remembering.p50} ms, alone ${without.p50} ms, added ${added.toFixed(0)} ms`;
  return `${agent}: block in ${block} of ${of}; ${times}; tokens: tools ${parts?.tools}, block ${parts?.block}, rest ${parts?.rest}`;
}
