/** Labelled messages, as `corpus/README.md` describes them. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { invalid, reasonOf } from "../../engine/domain/errors.ts";
import { KINDS } from "../../engine/domain/learning/kinds.ts";

const Row = z.strictObject({
  text: z.string().min(1),
  keep: z.array(z.strictObject({ part: z.string().min(1), kind: z.enum(KINDS) })),
  /** What a message that teaches nothing is instead. */
  like: z.string().optional(),
});

export interface Message extends z.infer<typeof Row> {
  /** The name of its file, without the ending. */
  readonly source: string;
}

export function readMessages(file: string): Message[] {
  const source = basename(file).replace(/\.jsonl$/, "");
  const lines = textOf(file).split("\n");
  return lines.flatMap((line, at) => {
    if (line.trim() === "") return [];
    try {
      const { success, data: row, error } = Row.safeParse(JSON.parse(line));
      if (!success) throw new Error(`${error.issues[0]?.path.join(".")}: ${error.issues[0]?.message}`);
      const strange = row.keep.find(({ part }) => !row.text.includes(part));
      if (strange !== undefined) throw new Error(`"${strange.part}" is not in the text`);
      return [{ ...row, source }];
    } catch (error) {
      throw invalid("data", `${file}, line ${at + 1}: ${reasonOf(error)}`);
    }
  });
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw invalid(
      "data",
      `${file} cannot be read (${reasonOf(error)}): --data names a file with one labelled message on each line.`,
    );
  }
}

/** The folder `corpus` of a checkout. */
export function corpusFolder(): string {
  const folder = fileURLToPath(new URL("../../../corpus", import.meta.url));
  if (!existsSync(folder))
    throw invalid("data", "The corpus is in the repository, not in the package: name a file with --data.");
  return folder;
}

export interface Corpus {
  readonly train: readonly Message[];
  /** Never trained on. */
  readonly aside: readonly Message[];
  readonly sha256: string;
}

/** `aside` was set aside before the first training: whole authors, and each fifth of the first messages. */
export function readCorpus(folder = corpusFolder()): Corpus {
  const files = (inside: string) =>
    readdirSync(inside)
      .filter((name) => name.endsWith(".jsonl"))
      .sort()
      .map((name) => join(inside, name));
  const hash = createHash("sha256");
  const read = (inside: string) =>
    files(inside).flatMap((file) => {
      hash.update(`${basename(file)}\n`).update(readFileSync(file));
      return readMessages(file);
    });
  return { train: read(join(folder, "train")), aside: read(join(folder, "aside")), sha256: hash.digest("hex") };
}
