/** Builds exchanges from the steps of a transcript: each begins with a prompt and ends before the next. */
import { exchangeText } from "../../engine/domain/learning/exchange.ts";
import { isCorrection, isCourtesy, isNod } from "../../engine/domain/learning/prompt-kind.ts";
import { redact } from "../../engine/domain/redaction/redact.ts";
import { hider, isTooMuch, withoutPrivate } from "../../engine/domain/text/private.ts";
import { clip } from "../../engine/domain/text/text.ts";
import type { Exchange } from "./read.ts";
import type { Step } from "./step.ts";
import { isOurs, toolTag, withoutHostText } from "./words.ts";

interface Action {
  readonly tool: string;
  readonly did: readonly string[];
}

interface Failure extends Action {
  readonly why: string;
}

interface Open {
  readonly key: string;
  readonly at: string;
  readonly prompt: string;
  /** Nothing of it is stored: its prompt is all private, or it began with a command. */
  readonly muted: boolean;
  readonly user: string[];
  readonly hidden: string[];
  readonly decided: string[];
  readonly failed: Failure[];
  readonly actions: Map<string, Action>;
  readonly tags: Set<string>;
  /** Answers of earlier turns of this exchange; only nods ("yes", "thanks") came between. */
  readonly answers: string[];
  said: { message: string; text: string };
  /** The agent has answered or acted. */
  active: boolean;
  end: number;
}

/** Limits of what is held of one exchange, however long it is. */
const MOST_ACTIONS = 200;
const MOST_SHOWN = 12;
const MOST_FAILURES = 4;
const MOST_TOOLS = 16;
const COMMAND = 120;
const FAILURE = 200;
/** What is read of a command or a name before it is redacted and cut. */
const RAW = 4_000;
/** Of one message; more than an exchange reads. */
const SAID = 64_000;
const MOST_ADDED = 40;
const MOST_ANSWERS = 3;
/** Of each of several answers; a single one gets all the room of an exchange. */
const ANSWER = 350;

export interface Collecting {
  /** The exchange that ends with this step. */
  add(step: Step, end: number): Exchange | undefined;
  /** The exchange that is still open. */
  last(): Exchange | undefined;
}

/** `spoiled`: an exchange cannot be read and is left out, with everything up to the next prompt. */
export function collecting(fallbackTime: string, spoiled: () => void = () => undefined): Collecting {
  let open: Open | undefined;

  /** An exchange that cannot be finished does not keep the next from being read. */
  function finishedOrSpoiled(exchange: Open | undefined): Exchange | undefined {
    try {
      return finished(exchange);
    } catch {
      // The error is not passed on: it may quote what is private.
      spoiled();
      return undefined;
    }
  }

  function muted(end: number): Exchange | undefined {
    const before = finishedOrSpoiled(open);
    open = opened("", fallbackTime, "", true, end);
    return before;
  }

  function begin(step: Extract<Step, { kind: "prompt" }>, end: number): Exchange | undefined {
    if (open !== undefined && isSame(open, step)) {
      open.end = end;
      return undefined;
    }
    const { text, hidden } = withoutPrivate(step.text);
    if (open !== undefined && hidden.length === 0 && isNod(text)) {
      answered(open);
      open.end = end;
      return undefined;
    }
    const before = finishedOrSpoiled(open);
    open = opened(step.key, step.at ?? fallbackTime, step.text, text === "", end);
    open.user.push(text);
    open.hidden.push(...hidden);
    if (isCorrection(text)) open.tags.add("correction");
    return before;
  }

  return {
    add(step, end) {
      try {
        if (step.kind === "prompt") return begin(step, end);
        if (step.kind === "command") return muted(end);
        if (open === undefined) return undefined;
        open.end = end;
        note(open, step);
        return undefined;
      } catch {
        // Its private words are not known, so an answer to it, which may repeat them, is not stored either.
        spoiled();
        open = opened("", fallbackTime, "", true, end);
        return undefined;
      }
    },
    last: () => finishedOrSpoiled(open),
  };
}

const opened = (key: string, at: string, prompt: string, muted: boolean, end: number): Open => ({
  ...{ key, at, prompt, muted, user: [], hidden: [], decided: [], failed: [], actions: new Map(), tags: new Set() },
  ...{ answers: [], said: { message: "", text: "" }, active: false, end },
});

/**
 * A nod of the person ("yes", "thanks") ends a turn but not the exchange: the answer of the next turn is kept beside the one before, because
 * the reply to thanks is not the result of the exchange. A question that the nod answered is dropped.
 */
function answered(open: Open): void {
  const { text } = open.said;
  const last = open.answers.at(-1);
  open.said = { message: "", text: "" };
  if (text === "" || text === last || (last !== undefined && isCourtesy(text))) return;
  if (last?.endsWith("?")) open.answers.pop();
  open.answers.push(text);
  if (open.answers.length > MOST_ANSWERS) open.answers.shift();
}

/** Codex records a prompt twice in a row, in slightly different words. */
function isSame({ prompt, active }: Open, { text, echo }: Extract<Step, { kind: "prompt" }>): boolean {
  return echo === true && !active && prompt !== "" && (prompt.includes(text) || text.includes(prompt));
}

function note(open: Open, step: Exclude<Step, { kind: "prompt" | "command" }>): void {
  switch (step.kind) {
    case "told":
    case "decided": {
      const { text, hidden } = withoutPrivate(withoutHostText(step.text));
      if (!isTooMuch(open.hidden)) open.hidden.push(...hidden);
      if (text === "" || open.user.length + open.decided.length > MOST_ADDED) return;
      if (step.kind === "told") open.user.push(text);
      else open.decided.push(text);
      open.tags.add(step.kind === "told" ? "correction" : "decision");
      break;
    }
    case "said": {
      const { text } = withoutPrivate(withoutHostText(step.text));
      if (text === "") return;
      const before = open.said.message === step.message ? `${open.said.text}\n` : "";
      open.said = { message: step.message, text: (before + text).slice(0, SAID) };
      break;
    }
    case "tool":
      use(open, step);
      break;
    case "failed": {
      const action = open.actions.get(step.id);
      open.actions.delete(step.id);
      // Without a known call it was a tool of this memory, or the call was dropped.
      if (action === undefined) return;
      open.tags.add("failure");
      if (open.failed.length < MOST_FAILURES) open.failed.push({ ...action, why: step.why.slice(0, RAW) });
      break;
    }
    case "refused":
      open.actions.delete(step.id);
      break;
  }
  open.active = true;
}

function use(open: Open, { id, name, did }: Extract<Step, { kind: "tool" }>): void {
  if (isOurs(name)) return;
  if (open.tags.size < MOST_TOOLS) open.tags.add(toolTag(name));
  const before = open.actions.get(id);
  if (before === undefined && open.actions.size >= MOST_ACTIONS) dropOne(open.actions);
  const more = did === undefined ? [] : [withoutPrivate(withoutHostText(did)).text.slice(0, RAW)];
  open.actions.set(id, { tool: name, did: [...(before?.did ?? []), ...more].slice(0, MOST_SHOWN) });
}

/** Drops an action that only read, else the oldest. */
function dropOne(actions: Map<string, Action>): void {
  const idle = [...actions].find(([, { did }]) => did.length === 0) ?? [...actions][0];
  if (idle !== undefined) actions.delete(idle[0]);
}

/** Undefined when the agent neither answered nor acted, or nothing of it may be kept. */
function finished(open: Open | undefined): Exchange | undefined {
  if (open === undefined || open.muted || isTooMuch(open.hidden)) return undefined;
  answered(open);
  const { user, decided, failed, actions, answers, key, at, end } = open;
  const hide = hider(open.hidden);
  const safe = (text: string, chars: number) => clip(redact(hide(text)).text.replace(/\s+/g, " ").trim(), chars);
  const did = [...new Set([...actions.values()].flatMap((action) => action.did.map((one) => safe(one, COMMAND + 4))))];
  const parts = {
    user: user.map(hide),
    agent: answers.length > 1 ? answers.map((text) => safe(text, ANSWER)) : answers.map(hide),
    did: did.slice(0, MOST_SHOWN),
    failed: [...new Set(failed.map((one) => safe(failureText(one, safe), FAILURE)))],
    decided: decided.map(hide),
  };
  const actionsAndDecisions = parts.did.length + parts.failed.length + parts.decided.length;
  if (parts.agent.length + actionsAndDecisions === 0) return undefined;
  // A nod and a polite reply: there is nothing to store.
  if (actionsAndDecisions === 0 && user.every(isNod) && answers.every(isCourtesy)) return undefined;
  const tags = [...open.tags].map((tag) => safe(tag, 64)).filter((tag) => tag !== "");
  const content = exchangeText(parts);
  return content === "" ? undefined : { key, at, content, tags: [...new Set(tags)], next: end };
}

/** Private words are removed before the text is cut: half of one would not be recognised. */
function failureText({ tool, did, why }: Failure, safe: (text: string, chars: number) => string): string {
  const what = did.map((one) => safe(one, COMMAND)).join(", ");
  return `${what === "" ? tool : `${tool} (${what})`}: ${why}`;
}
