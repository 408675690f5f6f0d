/** Makes the weights of the reader. */
import { type Packed, pack } from "../../engine/adapters/extractor/local/reader/packed.ts";
import type { Weights } from "../../engine/adapters/extractor/local/reader/reader.ts";
import { KINDS } from "../../engine/domain/learning/kinds.ts";
import type { Corpus } from "./corpus.ts";
import { type Example, examplesOf } from "./examples.ts";
import { type Fit, fitLogistic } from "./logistic.ts";

const KEEP: Fit = { strength: 2, least: 2 };
/** There are fewer examples of each kind, and less hangs on it. */
const KIND: Fit = { strength: 1, least: 12 };

export function train(messages: Corpus["train"]): Weights {
  const examples = examplesOf(messages);
  const kept = examples.filter(({ kind }) => kind !== undefined);
  const fitted = (among: readonly Example[], how: Fit, is: (example: Example) => boolean): Packed =>
    pack(
      fitLogistic(
        among.map((example) => ({ features: example.features, yes: is(example) })),
        how,
      ),
    );
  const kinds = KINDS.map((kind) => [kind, fitted(kept, KIND, (example) => example.kind === kind)] as const);
  return { keep: fitted(examples, KEEP, ({ kind }) => kind !== undefined), ...Object.fromEntries(kinds) } as Weights;
}

/** The text of `weights.ts`. */
export function weightsFile(weights: Weights, sha256: string): string {
  const lines = Object.entries(weights).map(
    ([name, { scale, bias, gaps, weights: packed }]) =>
      `  ${name}: {\n    scale: ${scale},\n    bias: ${bias},\n    gaps: "${gaps}",\n    weights:\n      "${packed}",\n  },\n`,
  );
  return [
    "/** Made by `butler bench learning --train`; do not edit. */",
    'import type { Weights } from "./reader.ts";',
    "",
    "/** Of the files that they were made from. */",
    `export const MADE_FROM = "${sha256}";`,
    "",
    `export const WEIGHTS: Weights = {\n${lines.join("")}};`,
    "",
  ].join("\n");
}
