/** Changes of memories, sorted by what they mean to a person. */
import type { ApiChanges } from "../../../../src/doors/http/api/types.ts";

type Given = ApiChanges["changes"][number];

/** `replacement` is the memory that holds the new value of the same thing. */
export interface Change extends Given {
  readonly replacement?: Given;
}

export const GROUPS = [
  { name: "new", title: "New", word: "new", about: "Not known before." },
  { name: "changed", title: "Changed", word: "changed", about: "Known before, with another value." },
  { name: "back", title: "Back", word: "back", about: "It did not hold then, and does again." },
  { name: "surer", title: "Confirmed", word: "confirmed", about: "The same as before, and surer." },
  { name: "fading", title: "Fading", word: "fading", about: "Not confirmed for long: not told any more until it is." },
  { name: "gone", title: "Gone", word: "gone", about: "It does not hold any more." },
  { name: "passing", title: "Came and went", word: "came and went", about: "Learned and given up in that time." },
] as const;
export type Group = (typeof GROUPS)[number]["name"];
export type Grouped = ReadonlyMap<Group, readonly Change[]>;

const isLive = (then: Given["before"]): boolean => then?.state === "active" || then?.state === "fading";

function groupOf({ before, after }: Given): Group | undefined {
  if (!isLive(before)) {
    if (isLive(after)) return before === null ? "new" : "back";
    return before === null && after !== null ? "passing" : undefined;
  }
  if (!isLive(after)) return "gone";
  if (before?.state === "active" && after?.state === "fading") return "fading";
  if (before?.state === "fading" && after?.state === "active") return "back";
  if (before?.text !== after?.text || before?.maturity !== after?.maturity) return "changed";
  return "surer";
}

/** Of "dns / host: cloudflare" the part that a new value shares with the old one. */
function keyOf({ type, after, before }: Given): string | undefined {
  const text = (after ?? before)?.text;
  const cut = text?.indexOf(": ") ?? -1;
  return type === "fact" && cut > 0 ? text?.slice(0, cut).toLowerCase() : undefined;
}

/** A fact that was superseded and the one that took its place are one change. */
export function grouped(changes: readonly Given[]): Grouped {
  const found = new Map<Group, Change[]>();
  const fresh = new Map(
    changes.filter((change) => groupOf(change) === "new").map((change) => [keyOf(change), change] as const),
  );
  const taken = new Set<string>();
  const add = (group: Group, change: Change) => found.set(group, [...(found.get(group) ?? []), change]);
  for (const change of changes) {
    if (groupOf(change) !== "gone" || change.after?.state !== "superseded") continue;
    const key = keyOf(change);
    const replacement = key === undefined ? undefined : fresh.get(key);
    if (replacement === undefined || taken.has(replacement.id)) continue;
    taken.add(replacement.id).add(change.id);
    add("changed", { ...change, replacement });
  }
  for (const change of changes) {
    const group = groupOf(change);
    if (group !== undefined && !taken.has(change.id)) add(group, change);
  }
  return found;
}
