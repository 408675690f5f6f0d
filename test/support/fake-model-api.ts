/** Model APIs on this machine: Anthropic's Messages and OpenAI's chat completions, as far as an extractor uses them. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Asked, Reply } from "./fake-model.ts";

export type Dialect = "anthropic" | "openai";
type Json = Record<string, unknown>;

const PATHS: Readonly<Record<Dialect, string>> = { anthropic: "/v1/messages", openai: "/v1/chat/completions" };

interface Turn {
  readonly role: string;
  readonly content: string | readonly { readonly text?: string }[];
}
const textOf = (content: Turn["content"]) =>
  typeof content === "string" ? content : content.map((part) => part.text ?? "").join("");
const turnsOf = (turns: readonly Turn[]) => turns.map(({ role, content }) => ({ role, text: textOf(content) }));

interface Tool {
  readonly name: string;
  readonly input_schema: unknown;
}

/** The tool that the model has to call; undefined when it may answer in words. */
function forcedTool(body: Json): Tool | undefined {
  const choice = body.tool_choice as { type?: string; name?: string } | undefined;
  const tools = (body.tools ?? []) as Tool[];
  return choice?.type === "any" ? tools[0] : tools.find((tool) => tool.name === choice?.name);
}

/** Where each API is told the schema; undefined when it was not told. */
function schemaOf(dialect: Dialect, body: Json): unknown {
  if (dialect === "anthropic") {
    const format = (body.output_config as { format?: Json } | undefined)?.format;
    if (format?.type === "json_schema") return format.schema;
    return forcedTool(body)?.input_schema;
  }
  const format = body.response_format as { type?: string; json_schema?: Json } | undefined;
  return format?.type === "json_schema" && format.json_schema?.strict === true ? format.json_schema.schema : undefined;
}

function readAsked(dialect: Dialect, body: Json): Asked {
  const turns = turnsOf(body.messages as Turn[]);
  const isSystem = (turn: { role: string }) => turn.role === "system";
  const system = dialect === "anthropic" ? textOf(body.system as Turn["content"]) : turns.find(isSystem)?.text;
  return { system: system ?? "", turns: turns.filter((turn) => !isSystem(turn)), schema: schemaOf(dialect, body) };
}

const TOKENS = { input: 1_000, output: 100 };

function anthropicAnswer(body: Json, text: string, stop: string): Json {
  const tool = forcedTool(body)?.name;
  const said =
    tool === undefined
      ? { type: "text", text }
      : { type: "tool_use", id: "toolu_1", name: tool, input: JSON.parse(text) as unknown };
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: body.model,
    content: [said],
    stop_reason: tool === undefined ? stop : "tool_use",
    stop_sequence: null,
    usage: { input_tokens: TOKENS.input, output_tokens: TOKENS.output },
  };
}

const openaiAnswer = (body: Json, text: string, stop: string): Json => ({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: body.model,
  choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: stop }],
  usage: {
    prompt_tokens: TOKENS.input,
    completion_tokens: TOKENS.output,
    total_tokens: TOKENS.input + TOKENS.output,
  },
});

const STOPS = {
  anthropic: { end: "end_turn", refused: "refusal", cut: "max_tokens" },
  openai: { end: "stop", refused: "content_filter", cut: "length" },
} as const;

const errorBody = (dialect: Dialect, status: number, message: string): Json =>
  dialect === "anthropic"
    ? { type: "error", error: { type: `error_${status}`, message }, request_id: "req_1" }
    : { error: { message, type: `error_${status}`, param: null, code: null } };

function reply(dialect: Dialect, body: Json, plan: Reply, response: ServerResponse): void {
  const send = (status: number, json: Json) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(json));
  const answer = dialect === "anthropic" ? anthropicAnswer : openaiAnswer;
  const stops = STOPS[dialect];
  switch (plan.kind) {
    case "say":
      return void send(200, answer(body, plan.text, stops.end));
    case "refuse":
      return void send(200, answer(body, "", stops.refused));
    case "cut off":
      return void send(200, answer(body, plan.text, stops.cut));
    case "fail":
      return void send(plan.status, errorBody(dialect, plan.status, plan.message));
    case "hang":
      return;
    case "die": {
      const whole = JSON.stringify(answer(body, plan.text, stops.end));
      response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(whole) });
      response.write(whole.slice(0, whole.length / 2), () => response.destroy());
    }
  }
}

async function bodyOf(request: IncomingMessage): Promise<Json> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString("utf8")) as Json;
}

/** What is said may depend on what was asked. */
export type Planned = Reply | ((asked: Asked) => Reply);

export interface FakeApi {
  readonly baseUrl: string;
  readonly asked: Asked[];
  readonly bodies: Json[];
  readonly headers: IncomingMessage["headers"][];
  /** What the next calls get; the last one stays. */
  plan(...replies: readonly Planned[]): void;
  /** Looks at a request before the plan does; an error of its own goes before. */
  refuseWhen(when: (body: Json) => string | undefined): void;
  close(): Promise<void>;
}

/** Answers nobody who comes without a key or a schema. */
export async function startFakeApi(dialect: Dialect): Promise<FakeApi> {
  const asked: Asked[] = [];
  const bodies: Json[] = [];
  const headers: IncomingMessage["headers"][] = [];
  let replies: readonly Planned[] = [];
  let refusal: (body: Json) => string | undefined = () => undefined;
  // It never hangs up on an idle client: on a busy machine that would meet the client's next request, which then fails.
  const server = createServer({ keepAliveTimeout: 0 }, async (request, response) => {
    const body = await bodyOf(request);
    const refuse = (status: number, message: string) =>
      reply(dialect, body, { kind: "fail", status, message }, response);
    if (request.url !== PATHS[dialect]) return refuse(404, `no such path: ${request.url}`);
    const key = dialect === "anthropic" ? request.headers["x-api-key"] : request.headers.authorization;
    if (key === undefined) return refuse(401, "no key");
    const words = refusal(body);
    if (words !== undefined) return refuse(400, words);
    const read = readAsked(dialect, body);
    if (read.schema === undefined) return refuse(400, "no schema was sent");
    const plan = replies[Math.min(asked.length, replies.length - 1)] ?? {
      kind: "fail",
      status: 500,
      message: "no plan",
    };
    asked.push(read);
    bodies.push(body);
    headers.push(request.headers);
    reply(dialect, body, typeof plan === "function" ? plan(read) : plan, response);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    bodies,
    headers,
    plan: (...next) => {
      replies = next;
      for (const list of [asked, bodies, headers]) list.length = 0;
    },
    refuseWhen: (when) => {
      refusal = when;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
