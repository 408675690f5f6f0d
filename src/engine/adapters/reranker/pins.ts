/**
 * Pins a cross-encoder to its bytes. There is no known hash for a name that a person chose, and the hub may serve other weights under
 * it tomorrow: the hashes of the first files that worked are written down, outside of the model's own folder, and later files must
 * have the same. A hash in the configuration wins over these pins.
 */
import { randomBytes } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { integrity } from "../../domain/errors.ts";
import { sha256Of } from "../model/files.ts";
import type { CrossEncoderFiles } from "./cross-encoder.ts";

const Pins = z.record(z.string(), z.strictObject({ weights: z.string(), tokenizer: z.string() }));
type Pins = z.infer<typeof Pins>;

export interface PinOptions {
  readonly cacheDir: string;
  /** The hash of the weights in the configuration. */
  readonly sha256?: string | undefined;
}

const pinsFile = (cacheDir: string) => join(cacheDir, "cross-encoder-pins.json");

/** Throws `integrity` when the files do not match. `pinned`: they came from the hub. */
export async function holdToPins(options: PinOptions, files: CrossEncoderFiles, pinned: boolean): Promise<void> {
  const { cacheDir, sha256 } = options;
  if (sha256 === undefined && !pinned) return;
  const found = { weights: await sha256Of(files.weights), tokenizer: await sha256Of(files.tokenizer) };
  if (sha256 !== undefined && found.weights !== sha256)
    throw integrity(
      `The weights of the reranking model ${files.name} have the sha256 ${found.weights}, and rerank_model_sha256 says ${sha256}: they are not used. Correct the setting, or bring the right file.`,
    );
  if (!pinned) return;
  const pins = await readPins(cacheDir);
  const known = pins[files.name];
  const same = known?.weights === found.weights && known.tokenizer === found.tokenizer;
  if (same) return;
  if (known !== undefined && sha256 === undefined)
    throw integrity(
      `The reranking model ${files.name} has other bytes than when it was first used here (weights ${found.weights}, then ${known.weights}): it is not used. If the change is meant, set rerank_model_sha256 to the new hash, or remove "${files.name}" from ${pinsFile(cacheDir)}.`,
    );
  await writePins(cacheDir, { ...pins, [files.name]: found });
}

async function readPins(cacheDir: string): Promise<Pins> {
  try {
    return Pins.parse(JSON.parse(await readFile(pinsFile(cacheDir), "utf8")));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return {};
    throw integrity(`${pinsFile(cacheDir)} cannot be read; correct it or move it away.`, error);
  }
}

async function writePins(cacheDir: string, pins: Pins): Promise<void> {
  const file = pinsFile(cacheDir);
  const draft = `${file}.${process.pid}.${randomBytes(4).toString("hex")}`;
  await writeFile(draft, `${JSON.stringify(pins, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, file);
}
