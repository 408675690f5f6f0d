/** Lines of transcripts, and what becomes of them when some of their fields are replaced. */
import { claude, codex } from "../pure/transcripts-material.ts";
import { anyValue } from "./fuzz.ts";
import type { Dice } from "./hostile/attempts.ts";

/** A row of a transcript with some of its fields replaced, at any depth. */
export function bent(d: Dice, value: unknown): unknown {
  if (d.chance(0.12)) return anyValue(d);
  if (Array.isArray(value)) return value.map((one) => bent(d, one));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => (d.chance(0.05) ? [] : [[name, bent(d, one)]])),
  );
}

export const TRANSCRIPT_ROWS = {
  "claude-code": [
    claude.user("no, use pnpm – not npm"),
    claude.says("Renamed it."),
    claude.uses("t1", "Bash", { command: "npm test" }),
    claude.uses("t2", "Edit", { file_path: "/home/dev/shop/a.ts" }),
    claude.result("t1", "error: nope", { is_error: true }),
    { type: "summary", summary: "user" },
  ],
  codex: [
    codex.meta(),
    ...codex.asks("Rename the order service."),
    ...codex.says("Renamed it."),
    ...codex.runs("c1", ["bash", "-lc", "npm test"], "Exit code: 1\nOutput:\nerror: nope"),
    codex.line("turn_context", { cwd: "/elsewhere", model: "m" }),
  ],
} as const;
