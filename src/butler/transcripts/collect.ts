/** Puts the steps of a transcript together to exchanges: each begins with a prompt and ends before the next. */
import { exchangeText } from "../../domain/exchange.ts";
import { hider, withoutPrivate } from "../../domain/private.ts";
import { isCorrection, isNod } from "../../domain/prompt-kind.ts";
import { redact } from "../../domain/redact.ts";
import { clip } from "../../domain/text.ts";
import type { Exchange } from "./read.ts";
import type { Step } from "./step.ts";
import { isOurs, spoken, toolTag } from "./words.ts";

interface Deed {
  readonly tool: string;
  readonly did: readonly string[];
}

interface Open {
  readonly key: string;
  readonly at: string;
  readonly prompt: string;
  /** Nothing of it is kept: it is private as a whole, or no prompt at all. */
  readonly muted: boolean;
  readonly user: string[];
  readonly hidden: string[];
  readonly decided: string[];
  readonly failed: string[];
  readonly deeds: Map<string, Deed>;
  readonly tags: Set<string>;
  said: { message: string; text: string };
  /** Something came of it. */
  active: boolean;
  end: number;
}

/** What one exchange holds on to, however long it is. */
const MOST_DEEDS = 200;
const MOST_SHOWN = 12;
const MOST_FAILURES = 4;
const MOST_TOOLS = 16;
const COMMAND = 120;
const FAILURE = 200;
/** What is read of a command or a name before it is redacted and cut. */
const RAW = 4_000;

export interface Collecting {
  /** The exchange that is over because of this step. */
  add(step: Step, end: number): Exchange | undefined;
  /** The one that is still open. */
  last(): Exchange | undefined;
}

export function collecting(fallbackTime: string): Collecting {
  let open: Open | undefined;

  function begin(step: Extract<Step, { kind: "prompt" }>, end: number): Exchange | undefined {
    if (open !== undefined && isSame(open, step)) {
      open.end = end;
      return undefined;
    }
    const { text, hidden } = withoutPrivate(step.text);
    if (open !== undefined && hidden.length === 0 && isNod(text)) {
      open.end = end;
      return undefined;
    }
    const before = finished(open);
    open = opened(step.key, step.at ?? fallbackTime, step.text, text === "", end);
    open.user.push(text);
    open.hidden.push(...hidden);
    if (isCorrection(text)) open.tags.add("correction");
    return before;
  }

  return {
    add(step, end) {
      if (step.kind === "prompt") return begin(step, end);
      if (step.kind === "command") {
        const before = finished(open);
        open = opened("", fallbackTime, "", true, end);
        return before;
      }
      if (open === undefined) return undefined;
      open.end = end;
      note(open, step);
      return undefined;
    },
    last: () => finished(open),
  };
}

const opened = (key: string, at: string, prompt: string, muted: boolean, end: number): Open => ({
  ...{ key, at, prompt, muted, user: [], hidden: [], decided: [], failed: [], deeds: new Map(), tags: new Set() },
  ...{ said: { message: "", text: "" }, active: false, end },
});

/** One prompt may be recorded twice, one after the other, in slightly different words. */
function isSame({ prompt, active }: Open, { text, echo }: Extract<Step, { kind: "prompt" }>): boolean {
  return echo === true && !active && prompt !== "" && (prompt.includes(text) || text.includes(prompt));
}

function note(open: Open, step: Exclude<Step, { kind: "prompt" | "command" }>): void {
  switch (step.kind) {
    case "told":
    case "decided": {
      const { text, hidden } = withoutPrivate(spoken(step.text));
      open.hidden.push(...hidden);
      if (text === "") return;
      if (step.kind === "told") open.user.push(text);
      else open.decided.push(text);
      open.tags.add(step.kind === "told" ? "correction" : "decision");
      break;
    }
    case "said": {
      const { text } = withoutPrivate(spoken(step.text));
      if (text === "") return;
      const before = open.said.message === step.message ? `${open.said.text}\n` : "";
      open.said = { message: step.message, text: before + text };
      break;
    }
    case "tool":
      use(open, step);
      break;
    case "failed": {
      const deed = open.deeds.get(step.id);
      open.deeds.delete(step.id);
      // Without its call it was a tool of ours, or the call was lost.
      if (deed === undefined) return;
      open.tags.add("failure");
      const what = deed.did.map((did) => clip(did, COMMAND)).join(", ");
      const where = what === "" ? deed.tool : `${deed.tool} (${what})`;
      if (open.failed.length < MOST_FAILURES) open.failed.push(`${where}: ${step.why.slice(0, RAW)}`);
      break;
    }
    case "refused":
      open.deeds.delete(step.id);
      break;
  }
  open.active = true;
}

function use(open: Open, { id, name, did }: Extract<Step, { kind: "tool" }>): void {
  if (isOurs(name)) return;
  if (open.tags.size < MOST_TOOLS) open.tags.add(toolTag(name));
  const before = open.deeds.get(id);
  if (before === undefined && open.deeds.size >= MOST_DEEDS) forgetOne(open.deeds);
  const more = did === undefined ? [] : [withoutPrivate(spoken(did)).text.slice(0, RAW)];
  open.deeds.set(id, { tool: name, did: [...(before?.did ?? []), ...more].slice(0, MOST_SHOWN) });
}

/** Those that only looked go first, then the oldest. */
function forgetOne(deeds: Map<string, Deed>): void {
  const idle = [...deeds].find(([, { did }]) => did.length === 0) ?? [...deeds][0];
  if (idle !== undefined) deeds.delete(idle[0]);
}

/** Undefined when nothing came of it, or nothing of it may be kept. */
function finished(open: Open | undefined): Exchange | undefined {
  if (open === undefined || open.muted) return undefined;
  const { user, decided, failed, deeds, said, key, at, end } = open;
  const hide = hider(open.hidden);
  const safe = (text: string, chars: number) => clip(redact(hide(text)).text.replace(/\s+/g, " ").trim(), chars);
  const did = [...new Set([...deeds.values()].flatMap((deed) => deed.did.map((one) => safe(one, COMMAND + 4))))];
  const parts = {
    user: user.map(hide),
    agent: said.text === "" ? [] : [hide(said.text)],
    did: did.slice(0, MOST_SHOWN),
    failed: [...new Set(failed.map((one) => safe(one, FAILURE)))],
    decided: decided.map(hide),
  };
  if (parts.agent.length + parts.did.length + parts.failed.length + parts.decided.length === 0) return undefined;
  const tags = [...open.tags].map((tag) => safe(tag, 64)).filter((tag) => tag !== "");
  const content = exchangeText(parts);
  return content === "" ? undefined : { key, at, content, tags: [...new Set(tags)], next: end };
}
