/** The line of a memory that was found, made when it is looked at: a section mostly has no room left for its last ones. */
import type { Line } from "../../domain/ranking/budget.ts";
import type { Call } from "../memory.ts";
import type { ContextItem } from "./block.ts";
import type { RankedResult } from "./rank-results.ts";
import { keyOf, lineOf, listedTokensOf, tokensOf } from "./retell.ts";

export class FoundLine implements Line<ContextItem> {
  readonly item: ContextItem;
  readonly key: string;
  readonly #call: Call;
  readonly #found: RankedResult;
  #line: string | undefined;

  constructor(call: Call, found: RankedResult) {
    const { candidate, id, score } = found;
    this.item = { type: candidate.type, id, score };
    this.key = keyOf(candidate);
    this.#call = call;
    this.#found = found;
  }

  get line(): string {
    this.#line ??= lineOf(this.#found.candidate, this.#found.effectiveConfidence);
    return this.#line;
  }

  get tokens(): number {
    return tokensOf(this.#call, this.#found.candidate, this.line);
  }

  get listedTokens(): number {
    return listedTokensOf(this.#call, this.#found.candidate, this.line);
  }
}
