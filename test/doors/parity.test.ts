/** One list of calls through every door, each on a fresh memory with the same clock: the same answers, the same refusals. */
import { afterAll, describe, expect, it } from "vitest";
import { parseToolFlags } from "../../src/doors/cli/cli.ts";
import { exitCode } from "../../src/doors/failures.ts";
import { toolNamed, tools } from "../../src/engine/tools/index.ts";
import type { Outcome } from "../../src/engine/tools/outcome.ts";
import { butler, cleanUp, emptyHome } from "../support/owner-processes.ts";
import { BAD, GOOD, STEPS, type Step } from "../support/parity-steps.ts";
import { openRealHost, outcomeOf, plain, type RealHost } from "../support/real-host.ts";
import { WHOLE } from "../support/whole-answers.ts";

type Door = (real: RealHost) => Promise<(step: Step) => Promise<Outcome>>;

const overPost: Door =
  async (real) =>
  async ({ tool, input }) => {
    const { status, body } = await real.post(tool, JSON.stringify(input));
    return status === 200 ? { ok: true, answer: body } : { ok: false, error: body.error };
  };

const overMcpHttp: Door = async (real) => {
  const client = await real.overHttp();
  return async ({ tool, input }) => outcomeOf(await client.callTool({ name: tool, arguments: input, _meta: WHOLE }));
};

const overMcpLines: Door = async (real) => {
  const lines = real.overLines();
  lines.send(
    '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}',
  );
  await lines.next();
  let id = 0;
  return async ({ tool, input }) => {
    id += 1;
    lines.send(
      JSON.stringify({
        jsonrpc: "2.0",
        id,
        method: "tools/call",
        params: { name: tool, arguments: input, _meta: WHOLE },
      }),
    );
    return outcomeOf((await lines.next()).result);
  };
};

const overCli =
  (words: (step: Step) => string[]): Door =>
  async (real) =>
  async (step) => {
    const tool = toolNamed(step.tool);
    if (tool === undefined) throw new Error(`no tool ${step.tool}`);
    const parsed = parseToolFlags(tool, words(step));
    if (!parsed.ok) return parsed;
    return real.host.invoke(plain, "general", { tool: step.tool, input: parsed.command.input });
  };

const asJson = ({ input }: Step) => ["--json", JSON.stringify(input)];
const asFlags = (step: Step) =>
  step.jsonOnly ? asJson(step) : Object.entries(step.input).map(([name, value]) => flag(name, value));
const flag = (name: string, value: unknown) =>
  `--${name.replaceAll("_", "-")}=${typeof value === "string" ? value : JSON.stringify(value)}`;

const DOORS: Readonly<Record<string, Door>> = {
  "MCP over HTTP": overMcpHttp,
  "MCP over stdio": overMcpLines,
  "call --json": overCli(asJson),
  "call with flags": overCli(asFlags),
};

/** Ids come from chance and are numbered in the order they appear; a hash or the tokens of a text with ids in it say nothing. */
async function transcript(open: Door): Promise<unknown[]> {
  const real = await openRealHost();
  try {
    const call = await open(real);
    const ids = new Map<string, string>();
    const numbers = new Map<string, string>();
    const outcomes: unknown[] = [];
    for (const { input, ...rest } of STEPS) {
      const filled = JSON.parse(JSON.stringify(input), (_, value) =>
        typeof value === "string" && value.startsWith("$") ? (ids.get(value) ?? value) : value,
      );
      const outcome = await call({ ...rest, input: filled });
      await real.rig.settled();
      if (outcome.ok && rest.name !== undefined) ids.set(`$${rest.name}`, String(outcome.answer.id));
      outcomes.push(normalised(outcome, numbers));
    }
    return outcomes;
  } finally {
    await real.close();
  }
}

function normalised(outcome: Outcome, numbers: Map<string, string>): unknown {
  const text = JSON.stringify(outcome)
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => {
      if (!numbers.has(id)) numbers.set(id, `#${numbers.size + 1}`);
      return numbers.get(id) ?? id;
    })
    .replace(/\((candidate|established|proven), \w{8}\)/g, "($1, id)")
    .replace(/ takes \d+ of /g, " takes … of ");
  return JSON.parse(text, (key, value) => {
    if (key === "hash" || key === "tokens") return "…";
    // The command line speaks of flags where the others speak of arguments; code and field are the same.
    return key === "message" && /^(There is no flag --|unknown argument )/.test(value) ? "unknown" : value;
  });
}

let reference: Promise<unknown[]> | undefined;
const overHttp = () => (reference ??= transcript(overPost));

describe("HTTP, against which the others are held", () => {
  it("calls every tool both well and badly, with the expected outcomes", async () => {
    const outcomes = (await overHttp()) as Outcome[];
    expect(new Set(STEPS.map(({ tool }) => tool)).size).toBe(tools.length);
    for (const [at, step] of STEPS.entries()) {
      expect(outcomes[at]?.ok, `${step.tool} ${JSON.stringify(step.input)}`).toBe(at < GOOD.length);
    }
    const codes = new Set(outcomes.flatMap((outcome) => (outcome.ok ? [] : [outcome.error.code])));
    expect([...codes].toSorted()).toEqual(["conflict", "forbidden", "integrity", "invalid_input", "not_found"]);
  });
});

describe.each(Object.entries(DOORS))("%s", (_, door) => {
  it("gives the same answers and refusals as HTTP", async () => {
    const [ours, theirs] = [await transcript(door), await overHttp()];
    for (const [at, step] of STEPS.entries()) {
      expect(ours[at], `${step.tool} ${JSON.stringify(step.input)}`).toEqual(theirs[at]);
    }
  });
});

describe("the butler command", () => {
  afterAll(cleanUp);
  const NOW = { BUTLER_NOW: "2026-03-01T12:00:00.000Z" };

  it("prints the same JSON and ends with the code of the failure", async () => {
    const home = emptyHome();
    const run = async (tool: string, input: unknown) => {
      const { code, stdout, stderr } = await butler(home, ["call", tool, "--json", JSON.stringify(input)], NOW);
      expect(stderr).toBe("");
      return { code, body: JSON.parse(stdout) };
    };
    const stored = await run("memory_store_fact", {
      subject: "Ada",
      predicate: "drinks",
      content: "tea",
      request_context: { request_id: "r-9" },
    });
    expect(stored).toMatchObject({
      code: 0,
      body: { status: "created", state: "active", scope: "global", request_id: "r-9" },
    });
    const real = await openRealHost();
    await real.post("memory_store_fact", JSON.stringify({ subject: "Ada", predicate: "drinks", content: "tea" }));
    for (const { tool, input } of BAD.filter(({ terminal }) => terminal)) {
      const { code, body } = await run(tool, input);
      const { body: wanted } = await real.post(tool, JSON.stringify(input));
      expect(body, JSON.stringify(input)).toEqual(wanted);
      expect(code).toBe(exitCode(wanted.error.code));
    }
    const stats = await run("memory_stats", {});
    const { body: wanted } = await real.post("memory_stats", "{}");
    expect(stats.body.facts).toEqual(wanted.facts);
    await real.close();
    await butler(home, ["stop"]);
  });
});
