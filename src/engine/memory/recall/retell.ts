/** What a block makes of a candidate whatever the prompt is, looked up where it was made before. */
import type { Tokenizer } from "../../adapters/tokenizer/port.ts";
import { listed } from "../../domain/ranking/block-json.ts";
import type { Retelling } from "../../domain/ranking/retelling.ts";
import type { Candidate } from "../../store/index/search.ts";
import type { Call } from "../memory.ts";
import {
  candidateFact,
  contentKey,
  episodeLine,
  factKey,
  factLine,
  readOf,
  retold,
  ruleLine,
  sureness,
  teachesNothing,
  tenthsOf,
} from "./block.ts";

export function idlenessOf(c: Candidate): NonNullable<Retelling["idle"]> {
  const known = c.retelling?.idle;
  if (known !== undefined) return known;
  const made = retold(readOf(c)) === "" ? "empty" : teachesNothing(readOf(c)) ? "idle" : "no";
  if (c.retelling !== undefined) c.retelling.idle = made;
  return made;
}

/** Equal for memories that say the same, of which the best ranked is shown. */
export function keyOf(c: Candidate): string {
  const known = c.retelling?.key;
  if (known !== undefined) return known;
  const made = c.type === "fact" ? factKey(candidateFact(c)) : contentKey(readOf(c));
  if (c.retelling !== undefined) c.retelling.key = made;
  return made;
}

export function lineOf(c: Candidate, confidence: number): string {
  const { retelling } = c;
  const tenths = c.type === "fact" ? tenthsOf(confidence) : 0;
  if (retelling?.line !== undefined && retelling.tenths === tenths) return retelling.line;
  const made =
    c.type === "fact" ? factLine(candidateFact(c), sureness(tenths)) : c.type === "rule" ? ruleLine(c) : episodeLine(c);
  if (retelling !== undefined) Object.assign(retelling, { line: made, tenths, countedBy: undefined });
  return made;
}

export function tokensOf({ memory: { tokenizer } }: Call, { retelling }: Candidate, line: string): number {
  if (retelling === undefined) return tokenizer.count(line);
  const counts = countsBy(tokenizer, retelling);
  counts.tokens ??= tokenizer.count(line);
  return counts.tokens;
}

/** Of the line in a list of the block's JSON. */
export function listedTokensOf({ memory: { tokenizer } }: Call, { retelling }: Candidate, line: string): number {
  if (retelling === undefined) return tokenizer.count(listed(line));
  const counts = countsBy(tokenizer, retelling);
  counts.listedTokens ??= tokenizer.count(listed(line));
  return counts.listedTokens;
}

function countsBy(tokenizer: Tokenizer, retelling: Retelling): Retelling {
  if (retelling.countedBy !== tokenizer)
    Object.assign(retelling, { countedBy: tokenizer, tokens: undefined, listedTokens: undefined });
  return retelling;
}
