/**
 * Consolidates a prepared store and is killed on the way: a real kill -9 by its own hand, at a step that the test chose.
 * The extractor says the same of an episode in whatever company it comes.
 */
import { fileURLToPath } from "node:url";
import { fixedClock } from "../../src/engine/adapters/clock.ts";
import type { Db } from "../../src/engine/adapters/db/port.ts";
import { wrapDb } from "../../src/engine/adapters/db/wrap.ts";
import type { Extractor, Material } from "../../src/engine/adapters/extractor/port.ts";
import { uuidv7Source } from "../../src/engine/adapters/ids.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";
import type { JobReport } from "../../src/engine/memory/keep/job.ts";
import { consolidate } from "../../src/engine/memory/learn/consolidate.ts";
import { openMemory } from "../../src/engine/memory/open.ts";
import { Settings } from "../../src/engine/memory/settings.ts";
import { hashEmbedder } from "./hash-embedder.ts";
import { openPlace, type Place } from "./job-victim.ts";
import { fact, scripted } from "./scripted-extractor.ts";

/** A batch goes through these in order: taken, attempt counted, asked, written. */
export type Phase = "claim" | "begin" | "extract" | "learn";
/** `commit`: all is said but the end. `committed`: right after it. For `extract`: before it is asked, and after. */
export type Moment = "statement" | "during" | "commit" | "committed";

export interface Death {
  readonly phase: Phase;
  readonly moment: Moment;
  /** The how manieth of its kind, from 0. */
  readonly nth: number;
}

export interface Sentence extends Death {
  readonly place: Place;
  readonly now: string;
}

/** Runs have a time of their own. */
const OPENED = new Date("2026-03-02T00:00:00.000Z");

const NEXT: Readonly<Record<Phase, Phase>> = { claim: "begin", begin: "extract", extract: "learn", learn: "claim" };

/** Tells each step before it is taken. Between transactions the phase is that of the next one. */
function watched(db: Db, pass: (phase: Phase, moment: Moment) => void): { db: Db; asked(): void; answered(): void } {
  let phase: Phase = "claim";
  const step = (moment: Moment) => pass(phase, moment);
  return {
    db: wrapDb(db, (inner) => ({
      query(text, params) {
        step("statement");
        return inner.query(text, params);
      },
      async tx(work) {
        let decisive = phase !== "claim";
        const result = await inner.tx(async (sql) => {
          const done = await work({
            query(text, params) {
              step("statement");
              // A claim that finds nothing to do drops its run and stays a claim.
              decisive ||= text.includes("set episode_ids");
              return sql.query(text, params);
            },
          });
          step("commit");
          return done;
        });
        step("committed");
        if (decisive) phase = NEXT[phase];
        return result;
      },
    })),
    asked: () => step("commit"),
    answered() {
      step("committed");
      phase = NEXT[phase];
    },
  };
}

/** "Ann lives in Porto.": one fact. "Always …": one rule. Anything else teaches nothing. */
const taught = ({ episodes }: Material) => ({
  facts: episodes.flatMap(({ label, text }) => {
    const [, subject, verb] = /^(\w+) (lives|works) in \w+\.$/.exec(text) ?? [];
    return subject === undefined ? [] : [fact(`${verb}_in`, text, [label], { subject })];
  }),
  rules: episodes.flatMap(({ label, text }) =>
    text.startsWith("Always") ? [{ content: text, episodes: [label], scope: "own" }] : [],
  ),
});

export type Run = (now: Date, pass?: (phase: Phase, moment: Moment) => void) => Promise<JobReport>;

/** Opens the store to consolidate it, and closes it again. */
export async function withConsolidation<T>(db: Db, use: (run: Run) => Promise<T>): Promise<T> {
  let told: (phase: Phase, moment: Moment) => void = () => undefined;
  const watch = watched(db, (phase, moment) => told(phase, moment));
  const script = scripted(taught, { maxChars: 160 });
  const extractor: Extractor = {
    ...script.extractor,
    async extract(material, signal) {
      watch.asked();
      const extracted = await script.extractor.extract(material, signal);
      watch.answered();
      return extracted;
    },
  };
  const memory = await openMemory({
    ...{ butler: "general", role: "butler", db, clock: fixedClock(OPENED), ids: uuidv7Source() },
    // Nothing is counted here, and a real tokenizer takes longer to load than all the rest.
    ...{ embedder: hashEmbedder("a"), tokenizer: { name: "letters", count: (text: string) => text.length }, extractor },
    ...{ settings: Settings.parse({}), log: silentLog },
  });
  const gated: typeof memory = Object.create(memory, { db: { value: watch.db } });
  try {
    return await use((now, pass = () => undefined) => {
      told = pass;
      return consolidate.run({ memory: gated, now, dryRun: false, interrupted: () => false });
    });
  } finally {
    await memory.close();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { place, now, ...death } = JSON.parse(process.argv[2] ?? "") as Sentence;
  const die = () => process.kill(process.pid, "SIGKILL");
  const wanted = death.moment === "during" ? "statement" : death.moment;
  let passed = 0;
  await withConsolidation(await openPlace(place), (run) =>
    run(new Date(now), (phase, moment) => {
      if (phase !== death.phase || moment !== wanted || passed++ !== death.nth) return;
      if (death.moment === "during") setImmediate(die);
      else die();
    }),
  );
}
