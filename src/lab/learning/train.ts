/** Makes the weights of the reader. */
import { type Heads, INPUTS, inputsOf, LIKES, lookWith } from "../../engine/adapters/extractor/local/reader/looks.ts";
import { packNet } from "../../engine/adapters/extractor/local/reader/net.ts";
import { type Packed, pack } from "../../engine/adapters/extractor/local/reader/packed.ts";
import type { Weights } from "../../engine/adapters/extractor/local/reader/reader.ts";
import { KINDS } from "../../engine/domain/learning/kinds.ts";
import type { Corpus, Message } from "./corpus.ts";
import { type Example, examplesOf } from "./examples.ts";
import { fitNet, type Given, type NetFit } from "./fit-net.ts";
import { type Fit, fitLogistic, type Table, tableOf } from "./logistic.ts";

const KEEP: Fit = { strength: 2, least: 2, enough: 1e-5 };
/** There are fewer examples of each kind, and less hangs on it. */
const KIND: Fit = { strength: 1, least: 12, enough: 1e-4 };
const LIKE: Fit = { strength: 1, least: 10, enough: 1e-4 };
const SECOND: NetFit = { nets: 4, hidden: 24, epochs: 14, rate: 2e-3, batch: 64, penalty: 0.01 };

/** With its number in the table. */
interface Row extends Example {
  readonly row: number;
}

interface Read {
  readonly message: Message;
  readonly examples: readonly Row[];
}

export function train(messages: Corpus["train"]): Weights {
  let row = 0;
  const read = messages.map((message) => ({
    message,
    examples: examplesOf(message).map((example) => ({ ...example, row: row++ })),
  }));
  const table = tableOf(read.flatMap(({ examples }) => examples.map(({ features }) => features)));
  return { heads: fitHeads(table, read), second: packNet(fitNet(apart(table, read), INPUTS, SECOND)) };
}

function fitHeads(table: Table, read: readonly Read[]): Heads {
  const examples = read.flatMap((one) => one.examples);
  const kept = examples.filter(({ kind }) => kind !== undefined);
  // Of a sentence that is not kept, in a message that keeps something, nobody said what it is.
  const told = examples.filter(({ kind, like }) => kind !== undefined || like !== undefined);
  const fitted = (among: readonly Row[], how: Fit, is: (example: Example) => boolean): Packed => {
    const labelled = among.map((example) => ({ row: example.row, yes: is(example) }));
    return pack(fitLogistic(table, labelled, how));
  };
  const kinds = KINDS.map((kind) => [kind, fitted(kept, KIND, (example) => example.kind === kind)] as const);
  const likes = LIKES.map((like) => [like, fitted(told, LIKE, (example) => example.like === like)] as const);
  const keep = fitted(examples, KEEP, ({ kind }) => kind !== undefined);
  return { keep, ...Object.fromEntries([...kinds, ...likes]) } as Heads;
}

const FOLDS = 3;

/** What the regressions say of sentences whose author they do not know: what they say of known ones is too good to be learned from. */
function apart(table: Table, read: readonly Read[]): Given[] {
  const sources = [...new Set(read.map(({ message }) => message.source))];
  const foldOf = ({ message }: Read, nth: number): number =>
    (sources.length < FOLDS ? nth : sources.indexOf(message.source)) % FOLDS;
  return Array.from({ length: FOLDS }).flatMap((_, fold) => {
    const look = lookWith(
      fitHeads(
        table,
        read.filter((one, nth) => foldOf(one, nth) !== fold),
      ),
    );
    return read
      .filter((one, nth) => foldOf(one, nth) === fold)
      .flatMap(({ examples }) => {
        const looks = examples.map(({ features }) => look(features));
        const inputs = inputsOf(
          examples.map(({ said }) => said),
          looks,
        );
        return examples.flatMap(({ kind }, at) => {
          const input = inputs[at];
          return input === undefined ? [] : [{ input, yes: kind !== undefined }];
        });
      });
  });
}

/** The text of `weights.ts`. */
export function weightsFile({ heads, second }: Weights, sha256: string): string {
  const lines = Object.entries(heads).map(
    ([name, { scale, bias, gaps, weights: packed }]) =>
      `    ${name}: {\n      scale: ${scale},\n      bias: ${bias},\n      gaps: "${gaps}",\n      weights:\n        "${packed}",\n    },\n`,
  );
  const { inputs, scale, units, bias } = second;
  return [
    "/** Made by `butler bench learning --train`; do not edit. */",
    'import type { Weights } from "./reader.ts";',
    "",
    "/** Of the files that they were made from. */",
    `export const MADE_FROM = "${sha256}";`,
    "",
    "export const WEIGHTS: Weights = {",
    `  heads: {\n${lines.join("")}  },`,
    `  second: {\n    inputs: ${inputs},\n    scale: ${scale},\n    units:\n      "${units}",\n    bias: ${bias},\n  },`,
    "};",
    "",
  ].join("\n");
}
