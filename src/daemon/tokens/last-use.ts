/** The day of each token's last use. A day is written once for a token, after the answer: no request waits for the file. */
import { isRecord } from "../../engine/domain/record.ts";
import { type Home, readIfThere, writePrivate } from "../home.ts";

/** Days by the names of tokens. */
export type LastUses = Readonly<Record<string, string>>;

export function readLastUses(home: Home): LastUses {
  const text = readIfThere(home.tokenUsesFile);
  try {
    const read: unknown = JSON.parse(text ?? "{}");
    const days = isRecord(read) ? Object.entries(read) : [];
    return Object.fromEntries(days.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
  } catch (error) {
    // Half a file after a full disk: the next uses write it anew.
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

export interface UseNotes {
  used(name: string, now: Date): void;
}

export function noteLastUses(home: Home, failed: (error: unknown) => void): UseNotes {
  const days = new Map<string, string>();
  let waiting = false;
  const keep = () => {
    waiting = false;
    try {
      const all = { ...readLastUses(home), ...Object.fromEntries(days) };
      writePrivate(home.tokenUsesFile, `${JSON.stringify(all)}\n`);
    } catch (error) {
      failed(error);
    }
  };
  return {
    used(name, now) {
      const day = now.toISOString().slice(0, 10);
      if (days.get(name) === day) return;
      days.set(name, day);
      if (!waiting) setTimeout(keep, 0).unref();
      waiting = true;
    },
  };
}
