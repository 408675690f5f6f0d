/** Transcripts as Claude Code writes them, line by line. */
import { randomUUID } from "node:crypto";
import { appendFileSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

export interface Transcript {
  readonly path: string;
  readonly session: string;
  user(text: string): void;
  agent(text: string): void;
  /** Any line. */
  line(value: object): void;
}

export function transcript(path: string, session: string, folder = "/home/dev/project"): Transcript {
  mkdirSync(dirname(path), { recursive: true });
  let at = Date.parse("2026-03-01T12:00:00Z");
  const common = () => {
    at += 1_000;
    return {
      uuid: randomUUID(),
      timestamp: new Date(at).toISOString(),
      sessionId: session,
      cwd: folder,
      isSidechain: false,
      version: "2.1.325",
    };
  };
  const line = (value: object) => appendFileSync(path, `${JSON.stringify({ ...common(), ...value })}\n`);
  return {
    path,
    session,
    line,
    user: (text) => line({ type: "user", message: { role: "user", content: text } }),
    agent: (text) =>
      line({
        type: "assistant",
        message: { id: `msg_${randomUUID()}`, role: "assistant", content: [{ type: "text", text }] },
      }),
  };
}
