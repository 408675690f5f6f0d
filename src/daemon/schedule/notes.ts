/**
 * What the scheduler knows of each store, so that a closed one is opened only when something is due. The store itself holds the
 * truth: if these notes are lost, each store is opened once.
 */

import { z } from "zod";
import type { Log } from "../../engine/adapters/log.ts";
import { reasonOf } from "../../engine/domain/errors.ts";
import { readIfThere, writePrivate } from "../home.ts";

export interface Known {
  /** No run before this time can have been missed. */
  readonly since: Date;
  /** The latest slot of each job. */
  readonly last: Readonly<Record<string, Date>>;
  /** When the store must be opened whatever the schedule says: for a retry, or for a run whose process may have died. */
  readonly wakeAt: Date | undefined;
}

export interface ScheduleNotes {
  get(butler: string): Known | undefined;
  set(butler: string, known: Known): void;
}

/** For stores on a server: other owners write there too, so notes from before a restart would be out of date. */
export function notesInMemory(): ScheduleNotes {
  const notes = new Map<string, Known>();
  return { get: (butler) => notes.get(butler), set: (butler, known) => void notes.set(butler, known) };
}

const time = z.iso.datetime().transform((text) => new Date(text));
const Notes = z.record(
  z.string(),
  z.object({ since: time, last: z.record(z.string(), time), wakeAt: time.optional() }),
);

/** For embedded stores, which only the owner of this home writes to. */
export function notesInFile(file: string, log: Log): ScheduleNotes {
  let notes: Record<string, Known> | undefined;
  function load(): Record<string, Known> {
    notes ??= read();
    return notes;
  }
  function read(): Record<string, Known> {
    try {
      const text = readIfThere(file);
      const read = text === undefined ? {} : Notes.parse(JSON.parse(text));
      return Object.fromEntries(
        Object.entries(read).map(([butler, known]) => [butler, { ...known, wakeAt: known.wakeAt }]),
      );
    } catch (error) {
      log.warn(
        { file, reason: reasonOf(error) },
        "the notes of the schedule cannot be read; each store is looked into",
      );
      return {};
    }
  }
  return {
    get: (butler) => load()[butler],
    set(butler, known) {
      const all = load();
      all[butler] = known;
      try {
        writePrivate(file, `${JSON.stringify(all, null, 2)}\n`);
      } catch (error) {
        log.warn({ file, reason: reasonOf(error) }, "the notes of the schedule cannot be written");
      }
    },
  };
}
