/** As much of the Messages API as Claude Code needs for a session: words, a tool call when it is told to, all of it streamed. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Spoken {
  readonly system: string;
  readonly messages: string;
  readonly tools: readonly string[];
}

export interface ClaudeApi {
  readonly url: string;
  /** What the model says next, and the tool it calls before, if its name ends so and the session has it. */
  says(text: string, tool?: { readonly name: string; readonly input: unknown }): void;
  spoken(): readonly Spoken[];
  close(): Promise<void>;
}

interface Body {
  readonly system?: string | readonly { readonly text: string }[];
  readonly messages?: readonly { readonly content: unknown }[];
  readonly tools?: readonly { readonly name: string }[];
  readonly stream?: boolean;
  readonly model?: string;
}

export async function claudeApi(): Promise<ClaudeApi> {
  let text = "";
  let wanted: { readonly name: string; readonly input: unknown } | undefined;
  const spoken: Spoken[] = [];

  function answer(body: Body, out: ServerResponse): void {
    const system =
      typeof body.system === "string" ? body.system : (body.system ?? []).map((part) => part.text).join("\n");
    const tools = (body.tools ?? []).map(({ name }) => name);
    const messages = JSON.stringify(body.messages ?? []);
    spoken.push({ system, messages, tools });
    const tool = messages.includes('"tool_result"')
      ? undefined
      : tools.find((name) => wanted && name.endsWith(wanted.name));
    const content = tool
      ? { type: "tool_use", id: "toolu_1", name: tool, input: wanted?.input }
      : { type: "text", text };
    const stop_reason = tool ? "tool_use" : "end_turn";
    const usage = { input_tokens: 10, output_tokens: 5, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
    const message = { id: `msg_${spoken.length}`, type: "message", role: "assistant", model: body.model, usage };
    if (body.stream !== true) {
      out.writeHead(200, { "content-type": "application/json" });
      out.end(JSON.stringify({ ...message, content: [content], stop_reason, stop_sequence: null }));
      return;
    }
    out.writeHead(200, { "content-type": "text/event-stream" });
    const event = (type: string, more: object) =>
      out.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
    const [empty, delta] = tool
      ? [
          { ...content, input: {} },
          { type: "input_json_delta", partial_json: JSON.stringify(wanted?.input) },
        ]
      : [
          { ...content, text: "" },
          { type: "text_delta", text },
        ];
    event("message_start", { message: { ...message, content: [], stop_reason: null, stop_sequence: null } });
    event("content_block_start", { index: 0, content_block: empty });
    event("content_block_delta", { index: 0, delta });
    event("content_block_stop", { index: 0 });
    event("message_delta", { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 5 } });
    event("message_stop", {});
    out.end();
  }

  // It never hangs up on an idle client: on a busy machine that would meet the client's next request, which then fails.
  const server = createServer({ keepAliveTimeout: 0 }, (incoming, outgoing) => {
    let asked = "";
    incoming.on("data", (chunk) => {
      asked += chunk;
    });
    incoming.on("end", () => {
      const path = incoming.url ?? "";
      if (path.startsWith("/v1/messages") && !path.includes("count_tokens"))
        return answer(JSON.parse(asked) as Body, outgoing);
      outgoing.writeHead(200, { "content-type": "application/json" });
      outgoing.end(path.includes("count_tokens") ? '{"input_tokens":10}' : "{}");
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    says(words, tool) {
      text = words;
      wanted = tool;
      spoken.length = 0;
    },
    spoken: () => spoken,
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}
