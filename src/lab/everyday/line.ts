/** `butler mcp`: how soon it is ready, the memory it takes, and how many tokens a model is handed through it. */
import { stopOwner } from "../../daemon/owner/take-ownership.ts";
import { openTokenizer } from "../../engine/adapters/tokenizer/gpt.ts";
import type { Tokenizer } from "../../engine/adapters/tokenizer/port.ts";
import type { BenchHome } from "../bench-home.ts";
import { spread } from "../figures.ts";
import { residentMb, timeCommand } from "../latency/processes.ts";
import { callThrough, type McpLine, openMcpLine, type Program, shakeHands } from "../mcp-line.ts";
import { type Figure, figure } from "./figure.ts";
import { LONG_QUERY } from "./fill.ts";
import type { Floors } from "./floors.ts";

const BUDGET = 3_000;
const PROMPT = "What is left to do for the release, and which rules apply?";
const EMPTY_NODE = "an empty Node process";

export async function measureLine(bench: BenchHome, floors: Floors, runs: number): Promise<Figure[]> {
  const { home, program, progress } = bench;
  const warm: number[] = [];
  const cold: number[] = [];
  await timeCommand(program, "warm up");
  for (let n = 0; n < runs; n++) {
    progress.show(n, runs, "butler mcp");
    warm.push(await timeToList(program));
  }
  for (let n = 0; n < runs; n++) {
    progress.show(n, runs, "butler mcp with nobody there");
    await stopOwner(home);
    cold.push(await timeToList(program));
  }
  await timeCommand(program, "warm up again");
  const line = openMcpLine(program);
  try {
    const listed = await shakeHands(line);
    const tokens = await handedOn(line, listed, await openTokenizer("o200k_base"));
    const group = "butler mcp";
    const ready = (name: string, times: readonly number[]) =>
      figure(group, {
        name,
        unit: "ms",
        is: spread(times).p50,
        floor: floors.node,
        of: EMPTY_NODE,
        most: { value: 2, times: true },
      });
    return [
      ready("handshake and tools/list, owner there", warm),
      ready("handshake and tools/list, nobody there", cold),
      figure(group, {
        name: "resident after some calls",
        unit: "MB",
        is: residentMb(line.pid),
        floor: floors.nodeMb,
        of: EMPTY_NODE,
        most: { value: 60 },
      }),
      ...tokens,
    ];
  } finally {
    await line.close();
  }
}

async function timeToList(program: Program): Promise<number> {
  const started = performance.now();
  const line = openMcpLine(program);
  try {
    await shakeHands(line);
    return performance.now() - started;
  } finally {
    await line.close();
  }
}

interface Answer {
  readonly content?: readonly { readonly text?: string }[];
  readonly structuredContent?: unknown;
}

async function handedOn(
  line: McpLine,
  listed: Readonly<Record<string, unknown>>,
  { count }: Tokenizer,
): Promise<Figure[]> {
  const group = "Tokens that a model is handed";
  const { tools } = listed as { tools: readonly { name: string; description: string; inputSchema: object }[] };
  const shown = tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema }));
  const words = tools.map(({ name, description }) => `${name}: ${description}`).join("\n");
  const answers = async (name: string, tool: string, input: object, most?: number) => {
    const { content = [], structuredContent } = (await callThrough(line, tool, input)) as Answer;
    const text = count(content.map((part) => part.text ?? "").join("\n"));
    const json = count(JSON.stringify(structuredContent));
    const limit = most === undefined ? {} : { most: { value: most } };
    return [
      figure(group, {
        name: `${name}, as text`,
        unit: "tokens",
        is: text,
        floor: most ?? text,
        of: most ? "the budget" : "the text",
        ...limit,
      }),
      figure(group, {
        name: `${name}, as JSON`,
        unit: "tokens",
        is: json,
        floor: text,
        of: "the text",
        most: most === undefined ? { value: 1.2, times: true } : { value: most },
      }),
    ];
  };
  return [
    figure(group, {
      name: "list of the core tools",
      unit: "tokens",
      is: count(JSON.stringify(shown)),
      floor: count(words),
      of: "names and descriptions",
      most: { value: 1_500 },
    }),
    ...(await answers(
      `context, budget ${BUDGET}`,
      "memory_context",
      { trigger_prompt: PROMPT, token_budget: BUDGET },
      BUDGET,
    )),
    ...(await answers("search, five long episodes", "memory_search", { query: LONG_QUERY, limit: 5 })),
    ...(await answers("store a fact", "memory_store_fact", {
      subject: "bench",
      predicate: "runs on",
      content: "this machine",
    })),
    ...(await answers("recall", "memory_recall", { topic: "what bench runs on" })),
  ];
}
