/** The stdio door without processes: the thin line of an agent, and the owner's end of it, in one. */
import type { Readable, Writable } from "node:stream";
import type { McpOptions } from "../../src/doors/mcp/mcp.ts";
import type { Lines } from "../../src/doors/mcp/stdio/lines.ts";
import { answerRequest } from "../../src/doors/mcp/stdio/owner-side.ts";
import { recordAnswers } from "../../src/doors/mcp/stdio/record-answers.ts";
import { serveThinLine } from "../../src/doors/mcp/stdio/thin-line.ts";

interface LocalLine extends McpOptions {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly maxLineBytes?: number | undefined;
  readonly drainMs?: number;
}

export async function serveLocalLine(options: LocalLine): Promise<Pick<Lines, "close" | "closed">> {
  return serveThinLine({
    ...options,
    hooks: options.hooks ?? false,
    known: await recordAnswers(options),
    async ask(handed, tell, signal) {
      const response = await answerRequest(options, handed, tell, signal);
      if (response === undefined) throw new Error("cancelled");
      return response;
    },
  });
}
