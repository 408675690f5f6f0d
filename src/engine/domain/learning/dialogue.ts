/** A text that somebody stored as a conversation, with a label before what each said. */
import type { Turn } from "./exchange.ts";

const LABELLED = /^\s*(?:(user|human)|(assistant|agent|ai|bot|model)|(tool|function|system)):\s*(.*)$/i;
/** Labels of one batch must stay below e9999. */
const MOST_TURNS = 60;

/**
 * Undefined when the first line names no speaker. A line without a label goes on with what its speaker said. Without this an agent's half of a
 * conversation counts as the word of whoever stored it.
 */
export function dialogueOf(text: string): Turn[] | undefined {
  const turns: { speaker: Turn["speaker"]; text: string }[] = [];
  for (const line of text.trim().split("\n")) {
    const [, user, agent, tool, said = ""] = LABELLED.exec(line) ?? [];
    const last = turns.at(-1);
    if (user ?? agent ?? tool) {
      if (turns.length === MOST_TURNS) break;
      turns.push({ speaker: user ? "user" : agent ? "agent" : "tool", text: said });
    } else if (last === undefined) return undefined;
    else last.text += `\n${line}`;
  }
  return turns.map(({ speaker, text: words }) => ({ speaker, text: words.trim() })).filter((turn) => turn.text !== "");
}
