/** What becomes of the facts of an answer when all of it has been read. */
import type { FactSlot } from "../fact.ts";
import { ladderOf } from "../scope.ts";
import { sameMeaning } from "../text/text.ts";
import { agreement, isTelling, saysSame } from "./agreement.ts";
import { ALIKE, type DropReason, type FactDraft, type KnownFact } from "./change.ts";
import {
  alive,
  type FactState,
  type Fresh,
  isOlder,
  isOver,
  isSameMoment,
  keyed,
  mayReplace,
  replace,
} from "./fact-state.ts";
import { isWeaker, trustRank } from "./trust.ts";

/** The same of the same subject under another name. What is true on a wider step is true here; what waits is not true yet. */
function isTwin(draft: FactDraft, other: FactSlot & { readonly content: string }) {
  const [mine, theirs] = [keyed(draft), keyed(other)];
  if (theirs.subject !== mine.subject || !ladderOf(draft.scope).includes(other.scope)) return false;
  if (other.waits_until !== null && !isSameMoment(other, draft)) return false;
  if (theirs.predicate === mine.predicate) return agreement(draft.content, other.content) === "same";
  return isTelling(draft.content) && saysSame(draft.content, other.content);
}

/** Of an exchange only those turns that said it: the person's words beside an agent's echo do not support it. */
const witnessesOf = ({ batch }: FactState, { episodes, draft }: Fresh) =>
  batch.witnesses.filter(({ id, trust }) => episodes.includes(id) && trustRank(trust) <= trustRank(draft.trust));

function knownTwin(state: FactState, { draft, nth }: Fresh): KnownFact | undefined {
  const near = (fact: KnownFact) =>
    keyed(draft).predicate === fact.predicate ||
    sameMeaning(draft.content, fact.content) ||
    state.known.likeness("fact", nth, fact.id) >= ALIKE;
  return alive(state).find((fact) => isTwin(draft, fact) && near(fact) && !isOver(state, fact));
}

/** No fact is stored twice: what a fact under another key says already confirms that fact, or is dropped. The best source comes first, then detail. */
export function settleFacts(state: FactState): { nth: number; reason: DropReason }[] {
  const { confirmed, dropped, fresh } = state;
  const settled = new Map<string, Fresh>();
  for (const [key, item] of fresh) {
    if (item.replaced.length === 0) continue;
    const twin = knownTwin(state, item);
    const stays =
      twin === undefined ||
      isWeaker(item.draft.trust, confirmed.trustOf(twin)) ||
      isOlder(witnessesOf(state, item), twin);
    const gone = stays || !mayReplace(twin, item.draft) ? [] : [twin.id];
    for (const id of gone) replace(state, id);
    settled.set(key, { ...item, replaced: [...item.replaced, ...gone] });
  }
  const added = [...fresh].filter(([key]) => !settled.has(key));
  added.sort(
    ([, { draft: a }], [, { draft: b }]) =>
      trustRank(b.trust) - trustRank(a.trust) || b.content.length - a.content.length,
  );
  for (const [key, item] of added) {
    const reason = settleOne(state, item, settled);
    if (reason === "new") settled.set(key, item);
    else if (reason !== undefined) dropped.push({ nth: item.nth, reason });
  }
  fresh.clear();
  for (const [key, item] of settled) fresh.set(key, item);
  return dropped;
}

function settleOne(state: FactState, item: Fresh, settled: Map<string, Fresh>): DropReason | "new" | undefined {
  const twin = knownTwin(state, item);
  if (twin !== undefined) return state.confirmed.add(twin, item.nth, witnessesOf(state, item));
  const [key, other] = [...settled].find(([, one]) => isTwin(item.draft, one.draft)) ?? [];
  if (key === undefined || other === undefined) return "new";
  if (isWeaker(item.draft.trust, other.draft.trust)) return "echo";
  settled.set(key, { ...other, episodes: [...new Set([...other.episodes, ...item.episodes])] });
  return "repeated";
}
