/** A data set of questions with known evidence: `{name, corpora: [{id, memories, questions}]}`, checked. */
import { basename } from "node:path";
import { z } from "zod";
import { invalid, messageOf } from "../../engine/domain/errors.ts";
import { readTime } from "./times.ts";

const id = z.union([z.string().min(1), z.number()], { error: "expected a text or a number" }).transform(String);
const optionalText = z
  .union([z.string(), z.number()], { error: "expected a text, or nothing" })
  .nullish()
  .transform((value) => (value === null || value === undefined || value === "" ? undefined : String(value)));

const Data = z.object({
  name: optionalText,
  licence: optionalText,
  source: optionalText,
  corpora: z
    .array(
      z.object({
        id,
        memories: z
          .array(
            z.object({
              id,
              session: optionalText,
              // A time that is not a string is left out, like a string that is not a time.
              time: z
                .unknown()
                .optional()
                .transform((value) => (typeof value === "string" && value !== "" ? value : undefined)),
              speaker: optionalText,
              text: z.string(),
            }),
          )
          .min(1),
        questions: z.array(
          z.object({
            id,
            question: z.string().refine((text) => text.trim() !== "", "expected a question, found a blank text"),
            category: optionalText.transform((value) => value ?? "all"),
            evidence: z
              .array(id)
              .nullish()
              .transform((ids) => [...new Set(ids ?? [])]),
          }),
        ),
      }),
    )
    .min(1),
});

export type Corpus = z.infer<typeof Data>["corpora"][number];
export type DataMemory = Corpus["memories"][number];
export type Question = Corpus["questions"][number];

export interface DataSet {
  readonly name: string;
  readonly file: string;
  readonly corpora: readonly Corpus[];
  /** Without sessions memories have no neighbouring turns: such a set measures search in documents, not in conversations. */
  readonly sessions: boolean;
  readonly left: LeftOut;
}

/** What the data lacks; a report states it. */
export interface LeftOut {
  /** Questions without evidence: nothing could be right, so they are not asked. */
  readonly empty_questions: number;
  /** Evidence that names no memory of its corpus: it stays in the denominator and counts as not found. */
  readonly unknown_evidence: number;
  readonly unreadable_times: number;
}

const SHOWN_FAULTS = 5;

export function readData(text: string, file: string): DataSet {
  const checked = Data.safeParse(parseJson(text, file));
  if (!checked.success) {
    const { issues } = checked.error;
    const more = issues.length > SHOWN_FAULTS ? [`… and ${issues.length - SHOWN_FAULTS} more.`] : [];
    const faults = issues
      .slice(0, SHOWN_FAULTS)
      .map((issue) => `${file}: ${issue.path.join(".") || "the whole"}: ${issue.message}.`);
    throw invalid("data", [...faults, ...more].join("\n"));
  }
  const { name, corpora } = checked.data;
  refuseTwins(
    corpora.map((corpus) => corpus.id),
    (twin) => `${file}: corpora: two have the id "${twin}".`,
  );
  for (const [index, corpus] of corpora.entries())
    refuseTwins(
      corpus.memories.map((memory) => memory.id),
      (twin) => `${file}: corpora.${index}.memories: two have the id "${twin}".`,
    );
  const timed = corpora.flatMap((corpus) => corpus.memories).filter((memory) => memory.time !== undefined);
  const read = corpora.map((corpus) => withTimes(corpus));
  return {
    name: name ?? basename(file).replace(/\.json$/, ""),
    file: basename(file),
    corpora: read.map((corpus) => ({ ...corpus, questions: corpus.questions.filter((q) => q.evidence.length > 0) })),
    sessions: read.some((corpus) => corpus.memories.some((memory) => memory.session !== undefined)),
    left: {
      empty_questions: sum(read, (corpus) => corpus.questions.filter((q) => q.evidence.length === 0).length),
      unknown_evidence: sum(read, unknownEvidence),
      unreadable_times:
        timed.length - sum(read, (c) => c.memories.filter((memory) => memory.time !== undefined).length),
    },
  };
}

const sum = <T>(list: readonly T[], of: (item: T) => number) => list.reduce((total, item) => total + of(item), 0);

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid("data", `${file} is not JSON: ${messageOf(error)}`);
  }
}

function refuseTwins(ids: readonly string[], words: (twin: string) => string): void {
  const seen = new Set<string>();
  for (const one of ids) {
    if (seen.has(one)) throw invalid("data", `${words(one)} Ids must be distinct, or evidence would be ambiguous.`);
    seen.add(one);
  }
}

const withTimes = (corpus: Corpus): Corpus => ({
  ...corpus,
  memories: corpus.memories.map((m) => ({ ...m, time: m.time === undefined ? undefined : readTime(m.time) })),
});

function unknownEvidence(corpus: Corpus): number {
  const known = new Set(corpus.memories.map((memory) => memory.id));
  return sum(corpus.questions, (question) => question.evidence.filter((one) => !known.has(one)).length);
}
