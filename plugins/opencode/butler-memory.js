/**
 * Butler Memory in opencode: brings context at the start of a session and with each prompt, and reports each exchange.
 * Whatever goes wrong, opencode goes on without memory; nothing here waits longer than two seconds.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("../butler-memory/hook.sh", import.meta.url));
const LIMIT_MS = 2000;
const MARK = "butler_memory";

/** Runs the hook; resolves with its answer, `{ late: true }` or undefined, and never rejects. */
function tell(event, input, limitMs = LIMIT_MS) {
  return new Promise((done) => {
    let child;
    const finish = (answer) => {
      clearTimeout(timer);
      done(answer);
    };
    const timer = setTimeout(() => {
      child?.kill();
      finish({ late: true });
    }, limitMs);
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

/** What a person or a model wrote, without the parts that a program added. */
function textOf(parts) {
  return (parts ?? [])
    .filter((part) => part.type === "text" && !part.synthetic)
    .map((part) => part.text)
    .join("\n");
}

/** Whether this plugin added the part to its message. */
const isOurs = (part) => part.type === "text" && part.metadata?.[MARK] === true;

export const ButlerMemory = async ({ client, directory }) => {
  const loaded = Date.now();
  // Of each session that this process has met, the answer of its last start; null once a message has brought it.
  const starts = new Map();
  // Sessions of sub-agents: their results are part of the session that started them.
  const children = new Set();

  const say = (session, event, more, limitMs) => tell(event, { session_id: session, cwd: directory, ...more }, limitMs);

  async function show(answer) {
    if (!answer?.message) return;
    const variant = answer.message.startsWith("Butler Memory is unavailable") ? "warning" : "info";
    await client.tui.showToast({ body: { message: answer.message, variant } }).catch(() => undefined);
  }

  function begin(session, source) {
    const start = say(session, "session.created", { source });
    starts.set(session, start);
    start.then(show).catch(() => undefined);
    return start;
  }

  /** A first message may come before the event of its session, or in a session of an earlier process; only then the session is asked for. */
  async function isChild(session) {
    if (starts.has(session) || children.has(session)) return children.has(session);
    const info = await client.session.get({ path: { id: session } }).then(
      ({ data }) => data,
      () => undefined,
    );
    if (info?.parentID) children.add(session);
    else if (!starts.has(session)) begin(session, info?.time?.created >= loaded ? "startup" : "resume");
    return children.has(session);
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
      if (event.type === "session.created" && !starts.has(session)) await begin(session, "startup");
      // The context was part of the messages that the compaction replaced.
      if (event.type === "session.compacted") await begin(session, "compact");
      if (event.type === "session.idle") await say(session, "session.idle", await lastExchange(session));
      if (event.type === "session.deleted") {
        starts.delete(session);
        await say(session, "session.deleted", {});
      }
    },
    "chat.message": async (input, output) => {
      const session = input.sessionID;
      const since = Date.now();
      if (await isChild(session)) return;
      const starting = starts.get(session);
      const start = await starting;
      // A compaction meanwhile has a start of its own.
      if (starts.get(session) === starting) starts.set(session, null);
      // The two seconds are used up: the context comes with the next message.
      if (start?.late) return;
      const left = LIMIT_MS - (Date.now() - since);
      const answer = await say(session, "chat.message", { prompt: textOf(output.parts) }, left);
      await show(answer);
      const text = [start?.context, answer?.context].filter(Boolean).join("");
      if (text === "") return;
      // Parts are read in the order of their ids: ours stands behind what was typed.
      const last = output.parts.at(-1)?.id;
      output.parts.push({
        id: last ? `${last}zz` : `prt_${randomUUID().replaceAll("-", "")}`,
        sessionID: session,
        messageID: output.message.id,
        type: "text",
        text,
        synthetic: true,
        ignored: true,
        metadata: { [MARK]: true },
      });
    },
    // Called before each request of the conversation, and for no other: a title is made without memory. The stored part is marked as
    // not for the model and is shown here; it keeps its position all session long, so that the model's prompt cache holds.
    "experimental.chat.messages.transform": async (_, output) => {
      for (const [index, message] of output.messages.entries())
        if (message.parts.some(isOurs))
          output.messages[index] = {
            ...message,
            parts: message.parts.map((part) => (isOurs(part) ? { ...part, ignored: false } : part)),
          };
    },
  };
};
