/**
 * Butler Memory in opencode: context at the start of a session and with each prompt, and word of what came of it.
 * Whatever goes wrong, opencode goes on without memory; nothing here waits longer than two seconds.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("../butler-memory/hook.sh", import.meta.url));
const LIMIT_MS = 2000;

/** Runs the hook; resolves with its answer, or with undefined, and never rejects. */
function tell(event, input) {
  return new Promise((done) => {
    let child;
    const finish = (answer) => {
      clearTimeout(timer);
      done(answer);
    };
    const timer = setTimeout(() => {
      child?.kill();
      finish(undefined);
    }, LIMIT_MS);
    try {
      child = spawn("sh", [script, "opencode", event], { stdio: ["pipe", "pipe", "ignore"] });
      let text = "";
      child.stdout.setEncoding("utf8");
      child.stdout.on("data", (chunk) => {
        text += chunk;
      });
      child.on("error", () => finish(undefined));
      child.stdin.on("error", () => undefined);
      child.on("close", () => {
        try {
          finish(JSON.parse(text));
        } catch {
          finish(undefined);
        }
      });
      child.stdin.end(JSON.stringify(input));
    } catch {
      finish(undefined);
    }
  });
}

/** What a person or a model wrote; parts that a program added are marked. */
function textOf(parts) {
  return (parts ?? [])
    .filter((part) => part.type === "text" && !part.synthetic)
    .map((part) => part.text)
    .join("\n");
}

export const ButlerMemory = async ({ client, directory }) => {
  const starts = new Map();
  // Sessions of sub-agents: their work comes back as part of the session that sent them.
  const children = new Set();

  const say = (session, event, more) => tell(event, { session_id: session, cwd: directory, ...more });

  async function show(answer) {
    if (!answer?.message) return;
    await client.tui.showToast({ body: { message: answer.message, variant: "warning" } }).catch(() => undefined);
  }

  function begin(session) {
    const known = starts.get(session);
    if (known) return known;
    const start = say(session, "session.created", { source: "startup" });
    starts.set(session, start);
    start.then(show).catch(() => undefined);
    return start;
  }

  async function lastExchange(session) {
    try {
      const { data } = await client.session.messages({ path: { id: session } });
      const from = data.findLastIndex(({ info }) => info.role === "user");
      const reply = data.slice(from + 1).filter(({ info }) => info.role === "assistant");
      return {
        prompt: textOf(data[from]?.parts),
        reply: reply
          .map(({ parts }) => textOf(parts))
          .filter(Boolean)
          .join("\n"),
      };
    } catch {
      return {};
    }
  }

  return {
    event: async ({ event }) => {
      const info = event.properties?.info;
      const session = event.properties?.sessionID ?? info?.id;
      if (typeof session !== "string") return;
      if (event.type === "session.created" && info?.parentID) children.add(session);
      if (children.has(session)) return;
      if (event.type === "session.created") await begin(session);
      if (event.type === "session.idle") await say(session, "session.idle", await lastExchange(session));
      if (event.type === "session.deleted") {
        starts.delete(session);
        await say(session, "session.deleted", {});
      }
    },
    "chat.message": async (input, output) => {
      if (children.has(input.sessionID)) return;
      const answer = await say(input.sessionID, "chat.message", { prompt: textOf(output.parts) });
      await show(answer);
      if (!answer?.context) return;
      output.parts.push({
        id: `prt_${randomUUID().replaceAll("-", "")}`,
        sessionID: input.sessionID,
        messageID: output.message.id,
        type: "text",
        text: answer.context,
        synthetic: true,
      });
    },
    // Asked before every request to the model: the same text each time, so that its prompt cache holds.
    "experimental.chat.system.transform": async (input, output) => {
      if (typeof input?.sessionID !== "string" || children.has(input.sessionID)) return;
      const start = await begin(input.sessionID);
      if (start?.context) output.system.push(start.context);
    },
  };
};
