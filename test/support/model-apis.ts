/**
 * As much of four model APIs as real agents need for a session of words: Anthropic's messages, OpenAI's responses and chat
 * completions, Google's generateContent, all streamed where they are asked to. What each request said is kept to be looked at.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ModelRequest {
  readonly path: string;
  /** A request of the conversation itself has the agent's tools; titles, summaries and the like have none. */
  readonly main: boolean;
  /** Everything the model was sent, tools aside, as one text; each piece of it as it would be read. */
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** When it had arrived, on the clock of `performance.now()`. */
  readonly at: number;
}

export interface ModelApis {
  readonly url: string;
  /** What every model answers from now on; Anthropic's first calls these tools of the agent, one by one. */
  says(text: string, calls?: readonly ToolCall[]): void;
  /** What was asked since it was last called. */
  taken(): ModelRequest[];
  close(): Promise<void>;
}

export interface ToolCall {
  readonly name: string;
  readonly input: object;
}

type Body = Readonly<Record<string, unknown>>;
type Reply = (out: ServerResponse, body: Body, text: string, call: ToolCall | undefined) => void;

export async function modelApis(): Promise<ModelApis> {
  let words = "Noted.";
  let calls: ToolCall[] = [];
  let asked: ModelRequest[] = [];
  // It never hangs up on an idle client: on a busy machine that would meet the client's next request, which then fails.
  const server = createServer({ keepAliveTimeout: 0 }, (incoming, out) => {
    void bodyOf(incoming).then((body) => {
      const path = (incoming.url ?? "").split("?")[0] ?? "";
      const at = performance.now();
      const reply = replyFor(path);
      const main = toolsOf(body) > 1;
      if (reply) asked.push({ path, main, text: pieces(withoutTools(body)).join("\n"), body, at });
      if (reply) reply(out, body, words, main ? calls.shift() : undefined);
      else json(out, path.endsWith("models") ? { object: "list", data: [{ id: "mock", object: "model" }] } : COUNTED);
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    says(text, first = []) {
      words = text;
      calls = [...first];
    },
    taken() {
      const taken = asked;
      asked = [];
      return taken;
    },
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}

const COUNTED = { input_tokens: 10, totalTokens: 10 };

function replyFor(path: string): Reply | undefined {
  if (path.endsWith("/v1/messages")) return anthropic;
  if (path.endsWith("/responses")) return responses;
  if (path.endsWith("/chat/completions")) return completions;
  return /enerateContent$/.test(path) ? (out, _, text) => google(out, text, path) : undefined;
}

async function bodyOf(incoming: IncomingMessage): Promise<Body> {
  let text = "";
  for await (const chunk of incoming.setEncoding("utf8")) text += chunk;
  try {
    return JSON.parse(text) as Body;
  } catch {
    return {};
  }
}

function toolsOf({ tools }: Body): number {
  if (!Array.isArray(tools)) return 0;
  const declared = (tools[0] as { functionDeclarations?: unknown[] } | undefined)?.functionDeclarations;
  return declared?.length ?? tools.length;
}

function withoutTools({ tools: _, ...rest }: Body): Body {
  return rest;
}

function pieces(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(pieces);
}

function json(out: ServerResponse, value: unknown): void {
  out.writeHead(200, { "content-type": "application/json" });
  out.end(JSON.stringify(value));
}

function stream(out: ServerResponse, events: readonly object[], named: boolean, last = ""): void {
  out.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events) {
    const name = named ? `event: ${(event as { type: string }).type}\n` : "";
    out.write(`${name}data: ${JSON.stringify(event)}\n\n`);
  }
  out.end(last);
}

let count = 0;

const anthropic: Reply = (out, { model, stream: streamed }, text, call) => {
  const usage = { input_tokens: 10, output_tokens: 5, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  const message = { id: `msg_${++count}`, type: "message", role: "assistant", model, usage, stop_sequence: null };
  const block = call ? { type: "tool_use", id: `toolu_${count}`, ...call } : { type: "text", text };
  const stop_reason = call ? "tool_use" : "end_turn";
  if (streamed !== true) return json(out, { ...message, content: [block], stop_reason });
  const delta = call
    ? { type: "input_json_delta", partial_json: JSON.stringify(call.input) }
    : { type: "text_delta", text };
  const empty = call ? { ...block, input: {} } : { ...block, text: "" };
  const events = [
    { type: "message_start", message: { ...message, content: [], stop_reason: null } },
    { type: "content_block_start", index: 0, content_block: empty },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 5 } },
    { type: "message_stop" },
  ];
  stream(out, events, true);
};

const responses: Reply = (out, _, text) => {
  const id = ++count;
  const item = { type: "message", id: `msg_${id}`, role: "assistant", content: [{ type: "output_text", text }] };
  const usage = {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 15,
  };
  const events = [
    { type: "response.created", response: { id: `resp_${id}` } },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { id: `resp_${id}`, output: [item], usage } },
  ];
  stream(out, events, true);
};

const completions: Reply = (out, { model, stream: streamed }, text) => {
  const head = { id: `chat_${++count}`, created: 1, model };
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const message = { role: "assistant", content: text };
  if (streamed !== true) {
    const choices = [{ index: 0, message, finish_reason: "stop" }];
    return json(out, { ...head, object: "chat.completion", choices, usage });
  }
  const chunk = (delta: object, finish_reason: string | null, more: object = {}) => ({
    ...head,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason }],
    ...more,
  });
  stream(out, [chunk(message, null), chunk({}, "stop", { usage })], false, "data: [DONE]\n\n");
};

function google(out: ServerResponse, text: string, path: string): void {
  const answer = {
    candidates: [{ index: 0, content: { role: "model", parts: [{ text }] }, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    modelVersion: "mock",
  };
  if (path.includes("stream")) stream(out, [answer], false);
  else json(out, answer);
}
