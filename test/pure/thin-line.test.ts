/** An agent's stdio server answers and judges as the protocol's own library does, without loading it. */
import { PassThrough } from "node:stream";
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type Transport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { type McpOptions, mcpServer } from "../../src/doors/mcp/mcp.ts";
import { isNotification, isRequest, isResponse } from "../../src/doors/mcp/stdio/json-rpc.ts";
import { type KnownAnswers, linesForShell } from "../../src/doors/mcp/stdio/known-answers.ts";
import { answerRequest } from "../../src/doors/mcp/stdio/owner-side.ts";
import { recordAnswers } from "../../src/doors/mcp/stdio/record-answers.ts";
import { serveThinLine } from "../../src/doors/mcp/stdio/thin-line.ts";
import { forbidden, MemoryError, unavailable } from "../../src/engine/domain/errors.ts";
import { tools } from "../../src/engine/tools/index.ts";

const VERSION = "1.2.3";
let known: KnownAnswers;
beforeAll(async () => {
  known = await recordAnswers({ tools, version: VERSION });
});

type Message = Record<string, unknown>;

const options = (more: Partial<McpOptions> = {}): McpOptions => ({
  tools,
  toolset: "core",
  butler: "general",
  version: VERSION,
  call: async ({ tool, input }) => ({ ok: true, answer: { tool, input } }),
  ...more,
});

/** The lines that a whole connection gets from the library itself. */
async function fromLibrary(messages: readonly Message[], more: Partial<McpOptions>): Promise<string[]> {
  const out: string[] = [];
  const transport: Transport = {
    start: async () => undefined,
    send: async (message) => void out.push(JSON.stringify(message)),
    close: async () => transport.onclose?.(),
  };
  const server = serveStdio(() => mcpServer(options(more)), { transport });
  await eachAnswered(messages, out, (message) => transport.onmessage?.(message as unknown as JSONRPCMessage));
  await server.close();
  return out;
}

/** The lines of the thin line, and how many requests it handed on. */
async function fromLine(messages: readonly Message[], more: Partial<McpOptions>): Promise<[string[], number]> {
  const out: string[] = [];
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  stdout.setEncoding("utf8").on("data", (text: string) => out.push(...text.trimEnd().split("\n")));
  let handed = 0;
  const whole = options(more);
  const line = serveThinLine({
    ...{ stdin, stdout, known, toolset: whole.toolset, butler: whole.butler, hooks: whole.hooks ?? false },
    async ask(request, tell, signal) {
      handed += 1;
      return (await answerRequest(whole, request, tell, signal)) ?? "";
    },
  });
  await eachAnswered(messages, out, (message) => stdin.write(`${JSON.stringify(message)}\n`));
  stdin.end();
  await line.closed;
  return [out, handed];
}

/** One after the other, so that the order of answers is that of the requests. */
async function eachAnswered(messages: readonly Message[], out: string[], send: (message: Message) => void) {
  for (const message of messages) {
    const before = out.length;
    send(message);
    while ("id" in message && out.length === before) await new Promise((done) => setImmediate(done));
  }
}

const request = (id: unknown, method: string, params?: unknown): Message => ({
  jsonrpc: "2.0",
  id,
  method,
  ...(params === undefined ? {} : { params }),
});

const hello = (protocolVersion: string, more: Message = {}) =>
  request(1, "initialize", { protocolVersion, capabilities: {}, clientInfo: { name: "t", version: "1" }, ...more });

const envelope = {
  _meta: {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "t", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  },
};

const LISTS = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];
const lists = (params?: Message) => LISTS.map((method, at) => request(`list ${at}`, method, params));

const CONVERSATIONS: readonly [string, readonly Message[], number][] = [
  ...["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07", "2026-07-28", "1999-01-01", ""].map(
    (version): [string, Message[], number] => [
      `the handshake of ${version || "no version"}`,
      [
        hello(version),
        { jsonrpc: "2.0", method: "notifications/initialized" },
        request(2, "ping"),
        ...lists(),
        ...lists({ cursor: "next", _meta: { progressToken: 7 } }),
      ],
      0,
    ],
  ),
  ["lists without a handshake", [...lists(), request("p", "ping", {})], 0],
  ["a second handshake", [hello("2025-06-18"), hello("2024-11-05")], 0],
  ["a client with much to say", [hello("2025-11-25", { capabilities: capabilities(), clientInfo: client() })], 0],
  ["discovery, then lists", [request(1, "server/discover", envelope), ...lists(envelope)], 0],
  ["lists of the newest version at once", lists({ ...envelope, cursor: "x" }), 0],
  ["discovery, then the older handshake", [request(1, "server/discover", envelope), hello("2025-06-18")], 0],
  [
    "what only the library knows",
    [
      hello("2025-06-18"),
      request(2, "tools/call", { name: "memory_stats", arguments: {} }),
      request(3, "tools/call", { name: "memory_sing" }),
      request(4, "tools/call", {}),
      request(5, "prompts/get", { name: "handoff" }),
      request(6, "prompts/get", { name: "sing" }),
      request(7, "resources/read", { uri: "memory://attic/x" }),
      request(8, "resources/read", {}),
      request(9, "nothing/known"),
      request(10, "logging/setLevel", { level: "info" }),
      request(11, "completion/complete", {}),
      request(12, "server/discover", envelope),
      request(13, "tools/list", { cursor: 5 }),
      request(14, "initialize", {}),
      request(15, "initialize", { protocolVersion: "2025-06-18", capabilities: { roots: 5 }, clientInfo: client() }),
      request(16, "tools/list", envelope),
    ],
    15,
  ],
  [
    "a connection of the newest version",
    [
      request(1, "tools/call", { ...envelope, name: "memory_stats", arguments: {} }),
      request(2, "tools/list"),
      hello("2025-06-18"),
      request(3, "ping", envelope),
      request(4, "nothing/known", envelope),
      request(5, "tools/list", { _meta: { ...envelope._meta, "io.modelcontextprotocol/clientCapabilities": 5 } }),
      request(6, "tools/list", envelope),
    ],
    6,
  ],
  [
    "claims that are not valid",
    [
      request(1, "server/discover", { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } }),
      request(2, "tools/list", {
        _meta: { ...envelope._meta, "io.modelcontextprotocol/protocolVersion": "2030-01-01" },
      }),
      hello("2025-06-18"),
    ],
    2,
  ],
];

function client(): Message {
  return { name: "t", version: "1", title: "T", icons: [{ src: "x", sizes: ["1x1"], theme: "dark" }], extra: [1] };
}

function capabilities(): Message {
  return {
    ...{ roots: { listChanged: true }, sampling: { tools: {} }, elicitation: {}, experimental: { a: { b: [1] } } },
    ...{ extensions: { "x/y": {} }, unknown: 5 },
  };
}

describe.each(["core", "full"] as const)("over a whole connection, with the %s tools", (toolset) => {
  it.each(CONVERSATIONS)("%s: the same bytes", async (_name, messages, handedOn) => {
    for (const [butler, hooks] of [
      ["general", false],
      ['odd "name" <ü> $& / %', true],
    ] as const) {
      const expected = await fromLibrary(messages, { toolset, butler, hooks });
      const [answered, handed] = await fromLine(messages, { toolset, butler, hooks });
      expect(answered).toEqual(expected);
      expect(handed).toBe(handedOn);
    }
  });
});

const odd = fc.oneof(
  fc.constantFrom(null, true, 5, 5.5, "text", "2.0", "debug", [], {}, [{}], { a: 1 }, { a: {} }, 2 ** 60),
  fc.jsonValue({ maxDepth: 1 }),
);
const field = (name: string, sound: unknown) =>
  fc.oneof(
    { arbitrary: fc.constant({ [name]: sound }), weight: 4 },
    fc.constant({}),
    odd.map((it) => ({ [name]: it })),
  );
const joined = (...parts: fc.Arbitrary<Message>[]) =>
  fc.tuple(...parts).map((all) => Object.assign({}, ...all) as Message);

const meta = joined(
  field("progressToken", 3),
  field("io.modelcontextprotocol/related-task", { taskId: "x" }),
  fc.constantFrom({}, { other: [] }),
);
const anyMessage = joined(
  field("jsonrpc", "2.0"),
  field("id", 1),
  fc.oneof({ arbitrary: field("method", "ping"), weight: 3 }, fc.constant({})),
  fc.oneof(
    fc.constant({}),
    field("params", {}),
    meta.map((_meta) => ({ params: { _meta } })),
  ),
  fc.oneof(
    { arbitrary: fc.constant({}), weight: 3 },
    field("result", {}),
    meta.map((_meta) => ({ result: { _meta } })),
  ),
  fc.oneof({ arbitrary: fc.constant({}), weight: 3 }, field("error", { code: 1, message: "x" })),
);

it("knows requests, notifications and responses by the same signs", () => {
  fc.assert(
    fc.property(fc.oneof(anyMessage, odd), (message) => {
      expect(isRequest(message)).toBe(isJSONRPCRequest(message));
      expect(isNotification(message)).toBe(isJSONRPCNotification(message));
      expect(isResponse(message)).toBe(isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message));
    }),
    { numRuns: 2_000 },
  );
});

const anyCapabilities = joined(
  field("roots", { listChanged: true }),
  field("sampling", { tools: {} }),
  field("elicitation", { form: { applyDefaults: true }, url: {} }),
  field("experimental", { a: {} }),
  fc.constantFrom({}, { tasks: {} }, { tasks: 5 }),
);
const anyClient = joined(
  field("name", "t"),
  field("version", "1"),
  field("title", "T"),
  field("icons", [{ src: "x" }]),
);
const anyHello = joined(
  field("protocolVersion", "2025-06-18"),
  anyCapabilities.map((it) => ({ capabilities: it })),
  anyClient.map((it) => ({ clientInfo: it })),
).map((params) => request(1, "initialize", params));
const anyEnvelope = joined(
  field("io.modelcontextprotocol/protocolVersion", "2026-07-28"),
  anyClient.map((it) => ({ "io.modelcontextprotocol/clientInfo": it })),
  anyCapabilities.map((it) => ({ "io.modelcontextprotocol/clientCapabilities": it })),
  field("io.modelcontextprotocol/logLevel", "info"),
);
const anyModern = fc
  .tuple(fc.constantFrom("server/discover", "tools/list", "ping", "initialize"), anyEnvelope)
  .map(([method, _meta]) => request(2, method, { _meta }));

it("answers any opening as the library does, odd ones too", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(anyHello, anyModern), { minLength: 1, maxLength: 3 }), async (opening) => {
      // A message that is none is refused before the library sees it.
      const messages = opening.filter((message) => isRequest(message)).map((message, at) => ({ ...message, id: at }));
      const [answered] = await fromLine(messages, {});
      expect(answered).toEqual(await fromLibrary(messages, {}));
    }),
    { numRuns: 300 },
  );
}, 120_000);

it("ends a subscription as soon as it has begun: nothing that is served ever changes", async () => {
  const message = request(1, "subscriptions/listen", { ...envelope, notifications: { toolsListChanged: true } });
  const [answered] = await fromLine([message, request(2, "tools/list", envelope)], {});
  const [begun, ended, list] = answered.map((line) => JSON.parse(line));
  expect(begun).toMatchObject({ method: "notifications/subscriptions/acknowledged", params: { notifications: {} } });
  expect(ended).toMatchObject({ id: 1, result: { resultType: "complete" } });
  expect(list.id).toBe(2);
});

describe("a request that the owner is asked for", () => {
  /** A line whose owner is played by the test. */
  function open(ask: Parameters<typeof serveThinLine>[0]["ask"]) {
    const stdin = new PassThrough();
    const stdout = new PassThrough();
    let text = "";
    stdout.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
    const line = serveThinLine({ stdin, stdout, known, toolset: "core", butler: "general", hooks: false, ask });
    return {
      send: (message: Message) => stdin.write(`${JSON.stringify(message)}\n`),
      async said() {
        stdin.end();
        await line.closed;
        return text
          .split("\n")
          .filter(Boolean)
          .map((one) => JSON.parse(one));
      },
    };
  }

  const call = (id: number) => request(id, "tools/call", { name: "memory_search", arguments: { query: "x" } });
  const progress = (done: number) =>
    JSON.stringify({ method: "notifications/progress", params: { progressToken: 1, progress: done }, jsonrpc: "2.0" });

  it("is told to stop when it is cancelled, gets no answer, and holds nobody up", async () => {
    const stopped: unknown[] = [];
    const { send, said } = open(
      ({ message }, tell, signal) =>
        new Promise((_, failed) =>
          signal.addEventListener("abort", () => {
            stopped.push(message.id);
            tell(progress(5));
            failed(new Error("cancelled"));
          }),
        ),
    );
    send(call(1));
    send(request(2, "ping"));
    send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } });
    send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 77 } });
    expect(await said()).toEqual([{ result: {}, jsonrpc: "2.0", id: 2 }]);
    expect(stopped).toEqual([1]);
  });

  it("reports progress that only grows, also when it is asked again from the beginning", async () => {
    const { send, said } = open(async ({ message }, tell) => {
      for (const done of [1, 2, 5, 1, 2, 5, 6]) tell(progress(done));
      return JSON.stringify({ result: { content: [] }, jsonrpc: "2.0", id: message.id });
    });
    send(call(1));
    const lines = await said();
    expect(lines.map(({ params, id }) => params?.progress ?? id)).toEqual([1, 2, 5, 6, 1]);
  });

  it.each([
    ["unavailable", unavailable("The memory could not be reached within 30 s."), -32603],
    ["forbidden", forbidden("The folder <x> is not yours."), -32602],
    ["unavailable", new Error("out of luck\nat line 1"), -32603],
  ])("fails in one sentence when there is no owner (%s)", async (code, error, protocolCode) => {
    const message =
      error instanceof MemoryError
        ? error.message.replace("<x>", "(x)")
        : "The memory could not be reached: out of luck";
    for (const meta of [{}, envelope]) {
      const { send, said } = open(async () => {
        throw error;
      });
      send(request(1, "tools/call", { name: "memory_search", arguments: {}, ...meta }));
      send(request(2, "resources/read", { uri: "memory://stats", ...meta }));
      send(request(3, "prompts/get", { name: "handoff", ...meta }));
      const [tool, resource, prompt] = (await said()).toSorted((a, b) => a.id - b.id);
      expect(tool.result).toMatchObject({
        isError: true,
        content: [{ type: "text", text: message }],
        structuredContent: { error: { code, message } },
      });
      expect(resource.error).toEqual({ code: protocolCode, message, data: { uri: "memory://stats", code, message } });
      expect(prompt.error).toEqual({ code: protocolCode, message, data: { code, message } });
    }
  });
});

it("what a shell prints is one line each, with stand-ins for what only it knows", () => {
  const printed = linesForShell(known);
  expect(Object.keys(printed)).toContain("modern/tools/list");
  for (const [name, line] of Object.entries(printed)) {
    expect(line.indexOf("\n")).toBe(line.length - 1);
    expect(line.match(/@[a-z]+@/g)?.filter((word) => word === "@id@")).toEqual(["@id@"]);
    const { id, result } = JSON.parse(line.replaceAll("@id@", "7").replaceAll("@butler@", "general"));
    expect(id).toBe(7);
    if (name.startsWith("legacy/initialize/")) expect(name).toBe(`legacy/initialize/${result.protocolVersion}`);
  }
});
