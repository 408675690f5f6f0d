/** What `butler migrate` says at its end. */
import { maskText } from "../../daemon/config/mask.ts";
import type { Moved, MovePlan } from "../../engine/memory/move/move-store.ts";
import type { Place } from "../wiring/migration-ends.ts";

export type ButlerMoved = { readonly butler: string } & MovePlan & Partial<Moved>;

const count = (n: number): string => n.toLocaleString("en");
const sum = ({ rows }: MovePlan): number => Object.values(rows).reduce((a, b) => a + b, 0);

const STARTS: Readonly<Record<MovePlan["start"], string>> = {
  nothing: "holds no memories: nothing to move.",
  new: "would be moved.",
  resume: "would be moved; an earlier attempt is there and would be finished.",
  anew: "would be moved from the start: the memory has changed since an earlier attempt.",
};

export const plannedWords = (moved: readonly ButlerMoved[]): string[] => [
  ...moved.map(
    (one) => `${one.butler}: ${one.start === "nothing" ? "" : `${count(sum(one))} rows `}${STARTS[one.start]}`,
  ),
  "Nothing was changed: leave out --dry-run to move them.",
];

export function movedWords(moved: readonly ButlerMoved[], from: Place, to: Place): string[] {
  const lines = moved.map((one) =>
    one.start === "nothing" ? `${one.butler}: ${STARTS.nothing}` : `${one.butler}: ${told(one)}`,
  );
  if (moved.every(({ start }) => start === "nothing")) return lines;
  const next =
    to.url === undefined
      ? `From now on run butler without BUTLER_DATABASE_URL${from.home.root === to.home.root ? "" : ` and with BUTLER_HOME=${to.home.root}`}, your agents too.`
      : "From now on set BUTLER_DATABASE_URL to the URL that --to named, wherever butler and your agents run.";
  const left = from.url === undefined ? from.home.root : maskText(from.url);
  return [...lines, next, `The memories are still in ${left} as well: remove them there once you are sure.`];
}

function told({ copied = 0, compared = 0, replayed, start }: ButlerMoved): string {
  const done = `${count(copied)} rows copied${start === "resume" ? " in this attempt" : ""}, all ${count(compared)} compared and the same`;
  return replayed === undefined ? `${done}.` : `${done}, and rebuilt from ${count(replayed)} events.`;
}
