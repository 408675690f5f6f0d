import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { FRIENDLY, friendlyHelp, parseFriendly, parseToolFlags, toolHelp } from "../../src/doors/cli/cli.ts";
import { renderAnswer, renderError } from "../../src/doors/cli/render.ts";
import { exitCode, httpStatus, readFailure } from "../../src/doors/failures.ts";
import { httpApp } from "../../src/doors/http/http.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";
import { usage as benchUsage } from "../../src/main/commands/bench.ts";
import { usage as jobUsage } from "../../src/main/commands/job.ts";
import { readOptions } from "../../src/main/program/command.ts";
import { usageOf } from "../../src/main/program/run-program.ts";
import { anyone, fakeHost, fakeTool, fakeTools } from "../support/fake-host.ts";
import { PatientClient } from "../support/patient-client.ts";

const search = fakeTool("memory_search");
const episode = fakeTool("memory_store_episode");

function input(tool: typeof search, argv: string[]) {
  const parsed = parseToolFlags(tool, argv);
  return parsed.ok ? parsed.command.input : parsed.error;
}

describe("help", () => {
  it("of a command with a part for each kind is the part of the kind that is asked for", () => {
    const fleet = usageOf(benchUsage, "bench", "fleet");
    expect(fleet).toMatch(/^butler bench fleet \[--users <n>\].*\n\nLives through days/);
    expect(fleet.match(/^butler bench /gm)).toHaveLength(1);
    expect(usageOf(benchUsage, "bench")).toBe(benchUsage);
    expect(usageOf(benchUsage, "bench", "flet")).toBe(benchUsage);
  });

  it("of any other command is the whole", () => {
    expect(usageOf(jobUsage, "job", "run")).toBe(jobUsage);
  });
});

describe("one reader for all command lines", () => {
  const names = { project: { type: "string" }, json: { type: "boolean" } } as const;
  it.each([
    [["--project", "auto"], "auto"],
    [["--project=auto"], "auto"],
    [["--PROJECT=a=b"], "a=b"],
    [["--project=--odd"], "--odd"],
    [["--project", "-x"], "-x"],
    [["--", "--project", "auto"], undefined],
  ])("%j says the same to a tool and to a command", (argv, project) => {
    const tool = parseToolFlags(search, argv);
    expect(tool.ok ? tool.command.project : undefined).toBe(project);
    expect(readOptions(argv, names, true).values.project).toBe(project);
  });

  it.each([[["--project"]], [["--project", "--json"]], [["--projct=x"]]])("%j is wrong usage for both", (argv) => {
    expect(parseToolFlags(search, argv)).toMatchObject({ ok: false, error: { code: "invalid_input" } });
    expect(() => readOptions(argv, names, true)).toThrow(/needs a value|There is no flag/);
  });
});

describe("flags", () => {
  it.each([
    [["--query", "green tea"], { query: "green tea" }],
    [["--query=a=b"], { query: "a=b" }],
    [["--query", "5"], { query: "5" }],
    [["--limit", "5"], { limit: 5 }],
    [["--limit", "-1"], { limit: -1 }],
    [["--limit", "five"], { limit: "five" }],
    [["--limit", ""], { limit: "" }],
    [["--explain"], { explain: true }],
    [["--explain", "--query", "x"], { explain: true, query: "x" }],
    [["--no-explain"], { explain: false }],
    [["--explain=false"], { explain: false }],
    [["--explain", "false"], { explain: false }],
    [["--explain=maybe"], { explain: "maybe" }],
    [["--types", "fact", "--types", "rule"], { types: ["fact", "rule"] }],
    [["--types", "fact, rule"], { types: ["fact", "rule"] }],
    [["--types", '["fact"]'], { types: ["fact"] }],
    [["--request-context", '{"request_id":"r"}'], { request_context: { request_id: "r" } }],
    [["--request_context", "oops"], { request_context: "oops" }],
    [["--json", '{"query":"x","limit":3}'], { query: "x", limit: 3 }],
    [["--json={}", "--query", "y"], { query: "y" }],
    [["--limit", "9", "--json", '{"query":"x","limit":3}'], { query: "x", limit: 9 }],
    [["--json", "[1]"], [1]],
    [["--json", "null"], null],
    [["--json"], {}],
    [[], {}],
  ])("memory_search %j → %j", (argv, expected) => {
    expect(input(search, argv)).toEqual(expected);
  });

  it.each([
    [["--session-id", "s1"], { session_id: "s1" }],
    [["--SESSION_ID=s1"], { session_id: "s1" }],
    [["--importance", "7.5"], { importance: 7.5 }],
    [["--metadata", '{"a":{"b":1}}'], { metadata: { a: { b: 1 } } }],
    [["--butler", "travel"], { butler: "travel" }],
  ])("memory_store_episode %j → %j", (argv, expected) => {
    expect(input(episode, argv)).toEqual(expected);
  });

  it.each([
    [["--querry", "x"], "querry", "did you mean --query?"],
    [["--que", "x"], "que", "did you mean --query?"],
    [["--xyzzy"], "xyzzy", "known are --query"],
    [["--query"], "query", "needs a value"],
    [["--query", "--limit", "5"], "query", "--query=…"],
    [["--json", "{oops"], "json", "not valid JSON"],
    [["stray"], undefined, "stray"],
  ])("refuses %j", (argv, field, words) => {
    const error = input(search, argv);
    const named = field === undefined ? {} : { field };
    expect(error).toEqual({ code: "invalid_input", message: expect.stringContaining(words), ...named });
  });

  it("keeps apart whom to ask, how to answer and what to ask", () => {
    expect(parseToolFlags(search, ["--butler", "travel", "--query", "x", "--json"])).toEqual({
      ok: true,
      command: { tool: search, input: { query: "x" }, butler: "travel", json: true, help: false },
    });
    expect(parseToolFlags(search, ["-h"])).toMatchObject({ ok: true, command: { help: true } });
  });

  it("explains a tool", () => {
    const help = toolHelp(fakeTool("memory_store_fact"));
    expect(help).toContain("--subject <string>");
    expect(help).toContain("(required)");
    expect(help).toContain("--permanence <permanent|stable|standard>");
    expect(help).toContain("[standard]");
    expect(help).not.toContain("request-context");
    for (const form of FRIENDLY) expect(friendlyHelp()).toContain(form.about);
  });
});

describe("friendly forms", () => {
  const friendly = (name: string, ...argv: string[]) =>
    parseFriendly(name, argv, { tools: fakeTools, butler: "general" });

  it.each([
    [["remember", "tea", "at four"], "memory_store_episode", { content: "tea at four", butler: "general" }],
    [
      ["remember", "tea", "--tags", "a,b"],
      "memory_store_episode",
      { content: "tea", tags: ["a", "b"], butler: "general" },
    ],
    [["remember", "x", "--butler", "travel"], "memory_store_episode", { content: "x", butler: "travel" }],
    [["remember", "--", "--rule"], "memory_store_episode", { content: "--rule", butler: "general" }],
    [
      ["remember", "Oslo", "--fact", "Ada", "lives in"],
      "memory_store_fact",
      { subject: "Ada", predicate: "lives in", content: "Oslo" },
    ],
    [["remember", "--rule", "Ask first."], "memory_store_rule", { content: "Ask first." }],
    [["search", "green", "tea", "--limit", "3"], "memory_search", { query: "green tea", limit: 3 }],
    [["search", "--json", "tea"], "memory_search", { query: "tea" }],
    [["search", "--json", '{"query":"tea"}'], "memory_search", { query: "tea" }],
    [["recall", "tea"], "memory_recall", { topic: "tea" }],
    [["context", "plan", "a", "trip"], "memory_context", { trigger_prompt: "plan a trip", butler: "general" }],
    [["stats"], "memory_stats", {}],
  ])("%j → %s", ([name = "", ...argv], tool, expected) => {
    const parsed = friendly(name, ...argv);
    expect(parsed).toMatchObject({ ok: true, command: { tool: { name: tool } } });
    expect(parsed?.ok && parsed.command.input).toEqual(expected);
  });

  it.each([
    ["remember"],
    ["search", "--limit", "3"],
    ["stats", "please"],
    ["remember", "x", "--fact", "Ada"],
    ["remember", "x", "--fact", "a", "b", "--rule"],
    ["search", "x", "--colour", "red"],
  ])("refuses %s %s %s %s", (name, ...argv) => {
    expect(friendly(name, ...argv)).toMatchObject({ ok: false, error: { code: "invalid_input" } });
  });

  it("leaves other commands alone", () => {
    expect(friendly("demo")).toBeUndefined();
  });
});

describe("rendering", () => {
  const plain = { json: false, colour: false, now: new Date("2026-03-10T00:00:00Z"), width: 60 };
  const fact = {
    type: "fact",
    id: "0195",
    subject: "Ada",
    predicate: "likes:tea",
    content: `green\u001b[31m tea\n${"very ".repeat(30)}much`,
    score: 0.8123,
    effective_confidence: 0.97,
    importance: 7,
    created_at: "2026-03-07T00:00:00Z",
  };

  it("shows found memories in two lines each", () => {
    const text = renderAnswer(search, { results: [fact], mode: "hybrid" }, plain);
    const [first = "", second = "", ...more] = text.split("\n");
    expect(more).toEqual([]);
    expect(first).toMatch(/^ 1 {2}fact {5}Ada · likes:tea: green\[31m tea very .*…$/);
    expect(first).toHaveLength(60);
    expect(second.trim()).toBe("score 0.81 · confidence 0.97 · importance 7 · 3 days old · 0195");
  });

  it("says so when nothing was found, and when the search was degraded", () => {
    const text = renderAnswer(search, { results: [], degraded: "No model: keywords only." }, plain);
    expect(text).toMatch(/^Nothing found\..*\n! No model: keywords only\.$/);
  });

  it("draws statistics, with unknown for what could not be counted", () => {
    const answer = {
      episodes: { total: 3, by_tier: { eden: 2, mid: 1, long: 0 }, backlog_age_hours: null },
      facts: { total: 4, confidence_histogram: [0, 1, 0, 3] },
      duplicate_rate: 0.125,
      links: null,
    };
    const text = renderAnswer(fakeTool("memory_stats"), answer, plain);
    expect(text).toContain("episodes  3");
    expect(text).toMatch(/eden {2}█{20} 2/);
    expect(text).toMatch(/mid {3}█{10} 1/);
    expect(text).toMatch(/long {2}0/);
    expect(text).toMatch(/0\.75–1 +█{20} 3/);
    expect(text).toMatch(/backlog age hours +unknown/);
    expect(text).toMatch(/links +unknown/);
    expect(text).toMatch(/duplicate rate +0\.13/);
  });

  it("prints a context as its text and other answers as their words", () => {
    expect(renderAnswer(fakeTool("memory_context"), { text: "<memory/>", tokens: 1 }, plain)).toBe("<memory/>");
    expect(renderAnswer(episode, { id: "e1" }, plain)).toBe("✓ Stored e1.");
  });

  it("prints exact JSON when told to", () => {
    const json = { json: true, colour: true };
    expect(JSON.parse(renderAnswer(search, { results: [fact] }, json))).toEqual({ results: [fact] });
    const failure = { code: "not_found", message: "Gone." } as const;
    expect(JSON.parse(renderError(failure, json))).toEqual({ error: failure });
  });

  it("shows errors with a hint, in colour only when told to", () => {
    const failure = { code: "unavailable", message: "The store is down.", field: "butler" } as const;
    expect(renderError(failure, plain)).toMatch(/^✗ The store is down\. \(butler\)\n {2}butler doctor/);
    expect(renderError(failure, { ...plain, colour: true })).toContain("\u001b[31m✗\u001b[0m");
    expect(renderAnswer(search, { results: [fact] }, { ...plain, colour: true })).toContain("\u001b[34mfact\u001b[0m");
  });
});

describe("one memory, three doors", () => {
  const host = fakeHost();
  const app = httpApp({
    backend: host,
    tools: fakeTools,
    authenticate: async () => anyone,
    allowedHosts: ["localhost"],
    log: silentLog,
    version: "1.2.3",
  });
  const headers = { host: "localhost", authorization: "Bearer t", "content-type": "application/json" };

  const overHttp = async (tool: string, body: object) => {
    const path = `/api/butlers/general/tools/${tool}`;
    const response = await app.request(path, { method: "POST", headers, body: JSON.stringify(body) });
    const failure = readFailure(await response.json());
    if (failure !== undefined) expect(response.status).toBe(httpStatus(failure.code));
    return failure;
  };

  const overMcp = async (tool: string, body: object) => {
    const client = new PatientClient({ name: "test", version: "1" });
    const transport = new StreamableHTTPClientTransport(new URL("http://localhost/butlers/general/mcp"), {
      requestInit: { headers },
      fetch: async (url, init) => {
        const all = new Headers(init?.headers);
        all.set("host", "localhost");
        return app.request(String(url), { ...init, headers: all } as RequestInit);
      },
    });
    await client.connect(transport);
    const result = await client.callTool({ name: tool, arguments: { ...body } });
    await client.close();
    return readFailure(result.structuredContent);
  };

  const overCli = async (tool: string, body: object) => {
    const parsed = parseToolFlags(fakeTool(tool), ["--json", JSON.stringify(body)]);
    if (!parsed.ok) return parsed.error;
    const outcome = await host.invoke(anyone, "general", { tool, input: parsed.command.input });
    return outcome.ok ? undefined : outcome.error;
  };

  it.each([
    ["memory_search", { query: "tea" }, undefined],
    ["memory_search", {}, 2],
    ["memory_search", { query: "tea", colour: "red" }, 2],
    ["memory_search", { query: "tea", limit: "5" }, 2],
    ["memory_search", { query: "tea", limit: 1e9 }, 2],
    ["memory_search", { query: "tea", request_context: { request_id: "" } }, 2],
    ["memory_store_episode", { content: "x", butler: "travel" }, 4],
    ["memory_forget", { id: "missing" }, 3],
    ["memory_forget", { id: "locked" }, 4],
    ["memory_forget", { id: "broken" }, 4],
    ["memory_forget", { id: "down" }, 1],
  ])("%s %j", async (tool, body, exit) => {
    const answers = [await overHttp(tool, body), await overMcp(tool, body), await overCli(tool, body)];
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
    expect(answers[0] && exitCode(answers[0].code)).toBe(exit);
  });
});
