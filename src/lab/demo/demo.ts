export { usage } from "../../main/commands/demo.ts";

import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { defaultButler } from "../../daemon/config/config.ts";
import { homeAt, prepareHome } from "../../daemon/home.ts";
import type { ExitCode } from "../../doors/failures.ts";
import type { Clock } from "../../engine/adapters/clock.ts";
import { openOnnxEmbedder } from "../../engine/adapters/embedder/onnx.ts";
import { acquireLock } from "../../engine/adapters/files/lock.ts";
import { silentLog } from "../../engine/adapters/log.ts";
import { locateModel } from "../../engine/adapters/model/files.ts";
import { conflict, invalid, isMissing, MemoryError, reasonOf, unavailable } from "../../engine/domain/errors.ts";
import { DAY_MS } from "../../engine/domain/lifecycle/decay.ts";
import type { Memory } from "../../engine/memory/memory.ts";
import { callTool } from "../../engine/tools/call.ts";
import type { ToolAnswer, ToolInput } from "../../engine/tools/index.ts";
import { type AnyToolName, typedCall } from "../../engine/tools/typed-call.ts";
import { type Context, readOptions } from "../../main/program/command.ts";
import { clockAt, memoryOpener } from "../../main/wiring/engines.ts";
import { type Answer, type Kept, LAST_DAY, live, PROMPT, QUESTION, type Stage } from "./story.ts";
import { callLine, dateOf, dayName, foundLines, painter, title, wrap } from "./words.ts";
import { DAYS, liveYear, yearLines } from "./year.ts";

const options = {
  butler: { type: "string" },
  home: { type: "string" },
  keep: { type: "boolean" },
  json: { type: "boolean" },
} as const;

const MORNING_MS = 9 * 3_600_000;

export async function run(args: readonly string[], context: Context): Promise<ExitCode> {
  const { values, positionals } = readOptions(args, options, true);
  const [which, ...rest] = positionals;
  if ((which !== undefined && which !== "year") || rest.length > 0)
    throw invalid(
      "arguments",
      `There is no demonstration "${positionals.join(" ")}"; there is "butler demo" and "butler demo year".`,
    );
  const butler = defaultButler(values.butler ?? "general");
  const keep = values.keep === true || values.home !== undefined;
  const folder = values.home === undefined ? await mkdtemp(join(tmpdir(), "butler-demo-")) : resolve(values.home);
  const home = homeAt(folder);
  try {
    prepareHome(home);
    const lock = await acquireLock(home.ownerLock);
    if (!lock)
      throw unavailable(`A process owns the memory in ${folder}; butler stop ends it, or choose another folder.`);
    try {
      await refuseMemories(home.store(butler.name));
      const show = { ...context, json: values.json ?? false, folder, keep, butler };
      await (which === "year" ? performYear(show) : perform(show));
    } finally {
      await lock.release();
    }
  } finally {
    if (!keep) await rm(folder, { recursive: true, force: true });
  }
  return 0;
}

/** The demonstration never writes into a store that holds memories. */
async function refuseMemories(store: string): Promise<void> {
  const names = await readdir(store).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  if (names.length > 0) throw conflict(`${store} holds memories already; a demonstration needs an empty place.`);
}

interface Performance extends Context {
  readonly json: boolean;
  readonly folder: string;
  readonly keep: boolean;
  readonly butler: ReturnType<typeof defaultButler>;
}

async function perform(show: Performance): Promise<void> {
  const { environment, butler, json, say } = show;
  const paint = painter(!json && environment.colour && process.stdout.isTTY === true);
  const tell = (line: string) => {
    if (!json) say(line);
  };
  const today = clockAt(environment.now).now();
  const start = new Date(Math.floor(today.getTime() / DAY_MS) * DAY_MS - LAST_DAY * DAY_MS + MORNING_MS);
  let now = start;
  const clock: Clock = { now: () => now, fixed: true };

  tell(paint("bold", "Six weeks with a butler"));
  tell(paint("dim", show.keep ? `in ${show.folder}` : "in a throw-away home: nothing of yours is touched"));
  const embedder = await openModel(show);
  const home = homeAt(show.folder);
  const open = memoryOpener({ stores: { folder: home.store, databaseUrl: undefined }, clock, log: silentLog });
  const memory = await open(butler, embedder);
  try {
    const timeline: { date: string; title: string; calls: { tool: string; input: Answer; answer: Answer }[] }[] = [];
    const stage: Stage = {
      day(day, name) {
        now = new Date(start.getTime() + day * DAY_MS);
        timeline.push({ date: now.toISOString().slice(0, 10), title: name, calls: [] });
        tell(`\n${paint("bold", `${dayName(now)} · ${name}`)}`);
      },
      async call(tool, input, session) {
        now = new Date(now.getTime() + 60_000);
        const answer = await callOrThrow(memory, tool, input, session);
        timeline.at(-1)?.calls.push({ tool, input, answer });
        const line = callLine(tool, input, answer, paint);
        if (line !== undefined) tell(line);
        return answer;
      },
      remark: (sentence) => {
        for (const line of wrap(sentence, "    ")) tell(paint("yellow", line));
      },
    };
    const kept = await live(stage);
    const shown = await look(memory, kept);
    if (json)
      say(
        JSON.stringify(
          { home: show.keep ? show.folder : null, degraded: shown.search.degraded ?? null, timeline, ...shown },
          null,
          2,
        ),
      );
    else for (const line of ending(shown, paint)) say(line);
  } finally {
    await memory.close();
    await embedder?.close();
  }
  if (show.keep) tell(`\nKept. Look around: BUTLER_HOME=${show.folder} butler search ${QUESTION.replace("?", "")}`);
}

async function performYear(show: Performance): Promise<void> {
  const { environment, butler, json, say, note } = show;
  const paint = painter(!json && environment.colour && process.stdout.isTTY === true);
  const today = Math.floor(clockAt(environment.now).now().getTime() / DAY_MS) * DAY_MS;
  const start = new Date(today - DAYS * DAY_MS);
  let now = start;
  const embedder = await openModel(show);
  const place = { folder: homeAt(show.folder).store, databaseUrl: undefined };
  const memory = await memoryOpener({ stores: place, clock: { now: () => now, fixed: true }, log: silentLog })(
    butler,
    embedder,
  );
  try {
    const year = await liveYear({
      memory,
      start,
      set: (at) => {
        now = at;
      },
      ask: (tool, input, session) => callOrThrow(memory, tool, input, session),
      progress: (day) => {
        if (!json && process.stderr.isTTY === true) note(`day ${day} of ${DAYS}`);
      },
    });
    if (json) say(JSON.stringify(year, null, 2));
    else for (const line of [paint("bold", "A year with a butler"), ...yearLines(year, paint)]) say(line);
  } finally {
    await memory.close();
    await embedder?.close();
  }
}

async function openModel({ environment, note }: Performance) {
  try {
    const place = { modelDir: environment.modelDir, cacheDir: homeAt(environment.home).models };
    const files = await locateModel({ ...place, variant: "int8" });
    if (files) return await openOnnxEmbedder(files);
    note(
      "degraded: there is no embedding model on this disk, so search goes by words only. butler model pull fetches it.",
    );
  } catch (error) {
    note(`degraded: the embedding model cannot be used, so search goes by words only. ${reasonOf(error)}`);
  }
  return undefined;
}

async function callOrThrow<N extends AnyToolName>(
  memory: Memory,
  tool: N,
  input: ToolInput<N>,
  session: string,
): Promise<ToolAnswer<N>> {
  const identity = { name: "demo", tenant: "default", butler: "*", admin: false, voice: "user" } as const;
  const call = typedCall((request) => callTool(memory, identity, request));
  const outcome = await call(tool, input, { session });
  if (!outcome.ok) throw new MemoryError(outcome.error.code, `${tool}: ${outcome.error.message}`);
  return outcome.answer;
}

type Shown = Awaited<ReturnType<typeof look>>;

/** The end of the demonstration: a search, the context block, statistics, and what was known on an earlier day. */
async function look(memory: Memory, kept: Kept) {
  const ask = <N extends AnyToolName>(tool: N, input: ToolInput<N>) => callOrThrow(memory, tool, input, "s9");
  const history: { content: string; from: string; until: string | null; state: string; events: string[] }[] = [];
  for (let id: string | undefined = kept.home; id !== undefined; ) {
    const { memory: fact, links, history: events }: ToolAnswer<"memory_get"> = await ask("memory_get", { id });
    const until = fact.superseded_at === null ? null : dateOf(fact.superseded_at);
    const told = events.map((event) => `${dateOf(event.occurred_at)} ${event.event_type}`);
    history.push({ content: fact.content, from: dateOf(fact.created_at), until, state: fact.state, events: told });
    id = links.inbound.find(({ relation }) => relation === "supersedes")?.id;
  }
  const warning = await ask("memory_get", { id: kept.restart });
  return {
    search: { query: QUESTION, ...(await ask("memory_search", { query: QUESTION, limit: 5 })) },
    context: await ask("memory_context", { trigger_prompt: PROMPT, token_budget: 600 }),
    history,
    warning: { was: String(warning.memory.original_content), now: warning.memory.content },
    stats: await ask("memory_stats", {}),
  };
}

function ending({ search, context, history, warning, stats }: Shown, paint: ReturnType<typeof painter>): string[] {
  const { episodes, facts, rules, events, links } = stats;
  const counts = (of: Record<string, number>) =>
    Object.entries(of)
      .filter(([, count]) => count > 0)
      .map(([name, count]) => `${count} ${name.replace("anti_pattern", "warning")}`)
      .join(", ");
  return [
    title(`Asked: ${search.query}`, paint),
    ...(search.degraded === undefined ? [] : wrap(`degraded: ${search.degraded}`, "  ")),
    ...foundLines(search.results, paint),
    title(`What an agent is given for "${PROMPT}" (${context.tokens} tokens)`, paint),
    ...context.text
      .trimEnd()
      .split("\n")
      .flatMap((line) => wrap(line, "  ")),
    title("Where Ada lived, and since when we knew", paint),
    ...history.map(
      ({ content, from, until, state }) =>
        `  ${from} – ${until ?? "today     "}  ${content.padEnd(12)} ${paint("dim", state)}`,
    ),
    ...history.slice(0, 1).flatMap(({ events: told }) => wrap(`the first one's story: ${told.join(" · ")}`, "  ")),
    title("A rule that did harm", paint),
    ...wrap(`was: ${warning.was}`, "  "),
    ...wrap(`now: ${warning.now}`, "  "),
    title("In numbers", paint),
    `  episodes  ${episodes.total} in sight (${counts(episodes.by_tier)}); those of the first weeks have expired`,
    `  facts     ${facts.total} live (${counts(facts.by_state)})`,
    `  rules     ${rules.total} (${counts(rules.by_maturity)})`,
    `  events    ${events} in the audit stream, ${links} links between memories`,
  ];
}
