/**
 * A week of sessions as a text that a person can read: `== <day> <time> <agent>` begins a session, `>` is what the person says, `<` what the
 * agent answers, `~ <tool> | <file>` an edit, `! <tool> | <command> | <output>` a command and `!!` one that failed. After `## worth` stands
 * what is worth telling: `<first>-<last> | <what> | <pattern>`, known after session `first`, true until session `last`. After `## needed`
 * stands of some sessions what their work needs: `<session> | <what>; <what>`.
 */
import { invalid } from "../../../engine/domain/errors.ts";

export type Part =
  | { readonly kind: "user"; readonly text: string }
  | { readonly kind: "agent"; readonly text: string }
  | { readonly kind: "edit"; readonly tool: string; readonly path: string }
  | {
      readonly kind: "command";
      readonly tool: string;
      readonly command: string;
      readonly output: string;
      readonly failed: boolean;
    };

export interface ScriptedSession {
  readonly at: Date;
  readonly agent: "claude-code" | "codex";
  readonly parts: readonly Part[];
}

export interface Worth {
  readonly what: string;
  readonly matches: RegExp;
  /** Numbers of sessions, from 1. */
  readonly from: number;
  readonly until: number;
}

export interface Week {
  readonly sessions: readonly ScriptedSession[];
  readonly worth: readonly Worth[];
  /** By the number of a session. */
  readonly needed: ReadonlyMap<number, readonly Worth[]>;
}

export function readWeek(text: string): Week {
  const [told = "", rest = ""] = text.split(/^## worth.*$/m);
  const [worthy = "", needs = ""] = rest.split(/^## needed.*$/m);
  const sessions = told
    .split(/^== /m)
    .slice(1)
    .map((session) => sessionOf(session));
  const worth = linesOf(worthy).map(worthOf);
  return { sessions, worth, needed: new Map(linesOf(needs).map((line) => neededOf(line, worth))) };
}

const linesOf = (text: string): string[] => text.split("\n").filter((line) => line.trim() !== "");

function sessionOf(text: string): ScriptedSession {
  const [head = "", ...lines] = text.split("\n");
  const [day, time, agent] = head.trim().split(" ");
  const parts: Part[] = [];
  for (const line of lines.filter((one) => one.trim() !== "")) {
    const part = partOf(line);
    const before = parts.at(-1);
    const goesOn = part.kind === "user" && before?.kind === "user" && !before.text.startsWith("/");
    if (goesOn) parts[parts.length - 1] = { kind: "user", text: `${before.text}\n${part.text}` };
    else parts.push(part);
  }
  return { at: new Date(`${day}T${time}:00Z`), agent: agent === "codex" ? "codex" : "claude-code", parts };
}

function partOf(line: string): Part {
  const [mark = "", ...rest] = line.split(" ");
  const text = rest.join(" ");
  if (mark === ">") return { kind: "user", text };
  if (mark === "<") return { kind: "agent", text };
  const [tool = "", what = "", ...output] = text.split(" | ");
  if (mark === "~") return { kind: "edit", tool, path: what };
  if (mark === "!" || mark === "!!")
    return { kind: "command", tool, command: what, output: output.join("\n"), failed: mark === "!!" };
  throw invalid("data", `a session has the line "${line}", which begins with none of > < ~ ! !!.`);
}

function worthOf(line: string): Worth {
  const [range = "", what = "", ...pattern] = line.split(" | ");
  const [from = "", until = ""] = range.split("-");
  return {
    what,
    matches: new RegExp(pattern.join(" | "), "i"),
    from: Number(from),
    until: until === "" ? Number.POSITIVE_INFINITY : Number(until),
  };
}

function neededOf(line: string, worth: readonly Worth[]): [number, Worth[]] {
  const [session = "", all = ""] = line.split(" | ");
  const named = all.split("; ").map((name) => {
    const found = worth.find(({ what }) => what === name);
    if (found === undefined)
      throw invalid("data", `session ${session} needs "${name}", which is not among what is worth telling.`);
    return found;
  });
  return [Number(session), named];
}
