/** Reads on in the log of sessions from where it stopped, also when the log was put aside meanwhile. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import type { Home } from "../../daemon/home.ts";
import { sessionEventOf } from "./read-sessions.ts";
import { type SessionLogEvent, sessionLogFile } from "./session-log.ts";

export interface FollowedLog {
  /** What was written since the last time, in that order; the first time everything. */
  read(): SessionLogEvent[];
}

/** A log that two processes put aside at once is written again in part; lines this near are compared. */
const COMPARED = 500;
const CHUNK = 64 * 1024;

interface Place {
  inode: number;
  offset: number;
  decoder: StringDecoder;
  /** The beginning of a line whose end is not written yet. */
  unfinished: string;
}

const beginning = (inode: number): Place => ({ inode, offset: 0, decoder: new StringDecoder("utf8"), unfinished: "" });

export function followLog(home: Home): FollowedLog {
  const file = sessionLogFile(home);
  const lately: string[] = [];
  let place: Place | undefined;
  let first = true;

  function readOn(path: string, goOn: (inode: number) => Place | undefined): string[] {
    let descriptor: number;
    try {
      descriptor = openSync(path, "r");
    } catch {
      // Nothing was written yet, or it is being put aside.
      return [];
    }
    try {
      const { ino, size } = fstatSync(descriptor);
      const from = goOn(ino);
      // A file that has become shorter was written anew.
      return from === undefined
        ? []
        : linesFrom(descriptor, from.offset > size ? Object.assign(from, beginning(ino)) : from);
    } finally {
      closeSync(descriptor);
    }
  }

  const isNew = (line: string): boolean => {
    if (lately.includes(line)) return false;
    lately.push(line);
    if (lately.length > COMPARED) lately.shift();
    return true;
  };

  return {
    read() {
      const all = first;
      first = false;
      const aside = readOn(`${file}.1`, (inode) => {
        if (all) return beginning(inode);
        return place?.inode === inode ? place : undefined;
      });
      const current = readOn(file, (inode) => {
        if (place?.inode !== inode) place = beginning(inode);
        return place;
      });
      // The first time the whole log is read, which only people wait for.
      const lines = all ? [...aside, ...current] : [...aside, ...current].filter(isNew);
      if (all) lately.push(...lines.slice(-COMPARED));
      return lines.flatMap((line) => sessionEventOf(line) ?? []);
    },
  };
}

function linesFrom(descriptor: number, place: Place): string[] {
  const buffer = Buffer.alloc(CHUNK);
  const lines: string[] = [];
  for (;;) {
    const bytes = readSync(descriptor, buffer, 0, CHUNK, place.offset);
    if (bytes === 0) return lines;
    place.offset += bytes;
    const parts = (place.unfinished + place.decoder.write(buffer.subarray(0, bytes))).split("\n");
    place.unfinished = parts.pop() ?? "";
    lines.push(...parts);
  }
}
