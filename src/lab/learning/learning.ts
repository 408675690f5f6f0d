/** `butler bench learning`: what is learned from labelled messages without a language model; and the training of the reader. */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Context } from "../../main/program/command.ts";
import { callFigures, callLine, heldOutCallFigures } from "./calls.ts";
import { type Message, readCorpus, readMessages } from "./corpus.ts";
import { figuresOf, type Judged, judge, recallByKind } from "./measure.ts";
import { train, weightsFile } from "./train.ts";

export interface LearningOptions {
  readonly files: readonly string[];
  readonly train: boolean;
  readonly misses: boolean;
  readonly json: boolean;
}

const WEIGHTS = fileURLToPath(
  new URL("../../../src/engine/adapters/extractor/local/reader/weights.ts", import.meta.url),
);

export function benchLearning(options: LearningOptions, { say, note }: Context): void {
  if (options.train) {
    const corpus = readCorpus();
    note(`Training with ${corpus.train.length.toLocaleString("en")} messages …`);
    writeFileSync(WEIGHTS, weightsFile(train(corpus.train), corpus.sha256));
    say(`${WEIGHTS} is written. Build, and measure again.`);
    note("The bar for a model's calls: the messages of each file with weights made without them …");
    say(callLine(heldOutCallFigures(corpus.train)));
    return;
  }
  const messages = options.files.length > 0 ? options.files.flatMap(readMessages) : readCorpus().aside;
  const sources = [...new Set(messages.map(({ source }) => source))];
  const judged = new Map(sources.map((source) => [source, judgeAll(messages, source)]));
  if (options.json) {
    const all = [...judged].map(([source, of]) => ({
      source,
      ...figuresOf(of),
      recall_by_kind: recallByKind(of),
      calls: callFigures(of.map(({ message }) => message)),
    }));
    say(JSON.stringify(all, null, 2));
    return;
  }
  for (const [source, of] of judged) {
    say(line(source, of));
    if (options.misses) for (const one of of) for (const told of faultsOf(one)) say(`  ${told}`);
  }
  say(callLine(callFigures(messages)));
}

const judgeAll = (messages: readonly Message[], source: string): Judged[] =>
  messages.filter((message) => message.source === source).map(judge);

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

function line(source: string, judged: readonly Judged[]): string {
  const { messages, parts, recall, items, precision, inverted } = figuresOf(judged);
  const kinds = Object.entries(recallByKind(judged)).map(([kind, share]) => `${kind} ${percent(share)}`);
  return [
    `${source}: ${messages} messages; of ${parts} parts worth keeping ${percent(recall)} were learned;`,
    `of ${items} items learned ${percent(precision)} were wanted, ${inverted} inverted.`,
    `(${kinds.join(", ")})`,
  ].join(" ");
}

const faultsOf = ({ message, parts, items }: Judged): string[] => [
  ...parts.filter(({ learned }) => !learned).map(({ part, kind }) => `missed ${kind}: ${part}`),
  ...items
    .filter(({ wanted }) => !wanted)
    .map(({ content }) => `not wanted${message.like === undefined ? "" : ` (${message.like})`}: ${content}`),
  ...items.filter(({ inverted }) => inverted).map(({ content }) => `inverted: ${content}`),
];
