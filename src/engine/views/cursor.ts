/** Where a page ended. Opaque to its reader, and checked when it comes back: it narrows what may be seen anyway and opens nothing. */
import { z } from "zod";
import { invalid } from "../domain/errors.ts";
import * as f from "../tools/fields.ts";

export const cursor = f.text(8_000).optional().describe("next_cursor of the page before.");

export const nextCursor = z.string().nullable().describe("Null on the last page.");

export const cursorOf = (...place: readonly string[]): string =>
  Buffer.from(JSON.stringify(place), "utf8").toString("base64url");

/** The last part of a place is always the id of a row. */
export function placeOf(given: string | undefined, parts: number): readonly string[] | undefined {
  if (given === undefined) return undefined;
  const place = Place.safeParse(read(given));
  if (!place.success || place.data.length !== parts || !f.id.safeParse(place.data.at(-1)).success) throw wrong();
  return place.data;
}

const Place = z.array(f.text(1_000)).min(1).max(3);

function read(given: string): unknown {
  try {
    return JSON.parse(Buffer.from(given, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
}

const wrong = () => invalid("cursor", "cursor must be a next_cursor of an earlier answer.");
