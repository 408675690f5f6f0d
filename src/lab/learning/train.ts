/** Makes the weights of the reader. */
import { PLACES } from "../../engine/adapters/extractor/local/reader/features.ts";
import type { Packed, Regression, Weights } from "../../engine/adapters/extractor/local/reader/reader.ts";
import { KINDS } from "../../engine/domain/learning/kinds.ts";
import type { Corpus } from "./corpus.ts";
import { type Example, examplesOf } from "./examples.ts";
import { fitLogistic } from "./logistic.ts";

const STRENGTH = 1;

export function train(messages: Corpus["train"]): Weights {
  const examples = examplesOf(messages);
  const kept = examples.filter(({ kind }) => kind !== undefined);
  const yes = (among: readonly Example[], is: (example: Example) => boolean) =>
    pack(
      fitLogistic(
        among.map((example) => ({ features: example.features, yes: is(example) })),
        STRENGTH,
      ),
    );
  const kinds = KINDS.map((kind) => [kind, yes(kept, (example) => example.kind === kind)] as const);
  return { keep: yes(examples, ({ kind }) => kind !== undefined), ...Object.fromEntries(kinds) } as Weights;
}

const MOST = 127;
/** Decimals that are written down. */
const rounded = (value: number): number => Number(value.toPrecision(6));

function pack({ weights, bias }: Regression): Packed {
  let most = 0;
  for (const weight of weights) most = Math.max(most, Math.abs(weight));
  const scale = rounded(most / MOST);
  const bytes = Buffer.alloc(PLACES);
  for (let at = 0; at < PLACES; at++)
    bytes.writeInt8(Math.max(-MOST, Math.min(MOST, Math.round((weights[at] ?? 0) / scale))), at);
  return { scale, bias: rounded(bias), weights: bytes.toString("base64") };
}

/** The text of `weights.ts`. */
export function weightsFile(weights: Weights, sha256: string): string {
  const lines = Object.entries(weights).map(
    ([name, { scale, bias, weights: packed }]) =>
      `  ${name}: {\n    scale: ${scale},\n    bias: ${bias},\n    weights:\n      "${packed}",\n  },\n`,
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
