/** `butler bench learning`: what is learned from labelled messages without a language model; and the training of the reader. */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { shippedReader } from "../../engine/adapters/extractor/local/reader/reader.ts";
import type { Context } from "../../main/program/command.ts";
import { callFigures, callLine } from "./calls.ts";
import { readCorpus, readMessages } from "./corpus.ts";
import { heldOut } from "./held-out.ts";
import { figuresOf, type Judged, judge, recallByKind } from "./measure.ts";
import { train, weightsFile } from "./train.ts";

export interface LearningOptions {
  readonly files: readonly string[];
  readonly train: boolean;
  /** Each file is read with weights made from the others. */
  readonly heldOut: boolean;
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
    return;
  }
  const groups = groupsOf(judgeAll(options, note), options.heldOut);
  if (options.json) {
    const all = [...groups].map(([source, of]) => ({
      source,
      ...figuresOf(of),
      recall_by_kind: recallByKind(of),
      calls: callFigures(of),
    }));
    say(JSON.stringify(all, null, 2));
    return;
  }
  for (const [source, of] of groups) {
    say(line(source, of));
    if (options.misses && of.every(({ message }) => message.source === source))
      for (const one of of) for (const told of faultsOf(one)) say(`  ${told}`);
  }
  say(callLine(callFigures([...new Set([...groups.values()].flat())])));
}

function judgeAll({ files, heldOut: apart }: LearningOptions, note: Context["note"]): Judged[] {
  const named = files.flatMap(readMessages);
  if (!apart) {
    const messages = files.length > 0 ? named : readCorpus().aside;
    return messages.map((message) => judge(message, shippedReader()));
  }
  note("The messages of each file, with weights that are made without them …");
  const judged: Judged[] = [];
  for (const { messages, reader } of heldOut(files.length > 0 ? named : readCorpus().train))
    judged.push(...messages.map((message) => judge(message, reader)));
  return judged;
}

/** What the name of a file says of the messages in it. */
const SORTS = ["coding", "german", "personal"];

/** By file; where there are many files, by sort too. */
function groupsOf(judged: readonly Judged[], sorts: boolean): Map<string, Judged[]> {
  const of = (is: (source: string) => boolean) => judged.filter(({ message }) => is(message.source));
  const sources = [...new Set(judged.map(({ message }) => message.source))];
  const groups = new Map(sources.map((source) => [source, of((its) => its === source)]));
  for (const sort of sorts ? SORTS : []) {
    const all = of((source) => source.includes(sort));
    if (all.length > 0) groups.set(`all ${sort}`, all);
  }
  return groups;
}

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
