/** Readers for the messages that are trained with: those of a file are read with weights that were made without that file. */
import { type Reader, readerOf } from "../../engine/adapters/extractor/local/reader/reader.ts";
import type { Message } from "./corpus.ts";
import { train } from "./train.ts";

const FOLDS = 5;

export interface HeldOut {
  readonly messages: readonly Message[];
  readonly reader: Reader;
}

/** A file is one author: of the author who is read, nothing has been trained with. */
export function* heldOut(messages: readonly Message[]): Generator<HeldOut> {
  const sources = [...new Set(messages.map(({ source }) => source))];
  for (let fold = 0; fold < FOLDS; fold++) {
    const out = new Set(sources.filter((_source, nth) => nth % FOLDS === fold));
    if (out.size === 0) continue;
    const reader = readerOf(train(messages.filter(({ source }) => !out.has(source))));
    yield { messages: messages.filter(({ source }) => out.has(source)), reader };
  }
}
