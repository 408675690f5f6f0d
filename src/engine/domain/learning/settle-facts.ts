/** What becomes of the facts of an answer when all of it has been read. */
import type { FactSlot } from "../fact.ts";
import { ladderOf } from "../scope.ts";
import { sameMeaning } from "../text/text.ts";
import { agreement, isTelling, saysSame } from "./agreement.ts";
import { ALIKE, type DropReason, type FactDraft, type KnownFact } from "./change.ts";
import {
  alive,
  type FactBook,
  type Fresh,
  isOlder,
  isOver,
  isSameMoment,
  keyed,
  mayReplace,
  replace,
} from "./fact-book.ts";
import { isWeaker, trustRank } from "./trust.ts";

/** The same of the same subject under another name. What is true on a wider step is true here; what waits is not true yet. */
function isTwin(draft: FactDraft, other: FactSlot & { readonly content: string }) {
  const [mine, theirs] = [keyed(draft), keyed(other)];
  if (theirs.subject !== mine.subject || !ladderOf(draft.scope).includes(other.scope)) return false;
  if (other.waits_until !== null && !isSameMoment(other, draft)) return false;
  if (theirs.predicate === mine.predicate) return agreement(draft.content, other.content) === "same";
  return isTelling(draft.content) && saysSame(draft.content, other.content);
}

/** Of an exchange only those turns that said it: the person's words beside an agent's echo are no witness for it. */
const witnessesOf = ({ batch }: FactBook, { episodes, draft }: Fresh) =>
  batch.witnesses.filter(({ id, trust }) => episodes.includes(id) && trustRank(trust) <= trustRank(draft.trust));

function knownTwin(book: FactBook, { draft, nth }: Fresh): KnownFact | undefined {
  const near = (fact: KnownFact) =>
    keyed(draft).predicate === fact.predicate ||
    sameMeaning(draft.content, fact.content) ||
    book.known.likeness("fact", nth, fact.id) >= ALIKE;
  return alive(book).find((fact) => isTwin(draft, fact) && near(fact) && !isOver(book, fact));
}

/** Nothing is known twice: what has a twin under another key goes up in it. The best source comes first, then detail. */
export function settleFacts(book: FactBook): { nth: number; reason: DropReason }[] {
  const { confirmed, dropped, fresh } = book;
  const settled = new Map<string, Fresh>();
  for (const [key, item] of fresh) {
    if (item.replaced.length === 0) continue;
    const twin = knownTwin(book, item);
    const stays =
      twin === undefined ||
      isWeaker(item.draft.trust, confirmed.trustOf(twin)) ||
      isOlder(witnessesOf(book, item), twin);
    const gone = stays || !mayReplace(twin, item.draft) ? [] : [twin.id];
    for (const id of gone) replace(book, id);
    settled.set(key, { ...item, replaced: [...item.replaced, ...gone] });
  }
  const added = [...fresh].filter(([key]) => !settled.has(key));
  added.sort(
    ([, { draft: a }], [, { draft: b }]) =>
      trustRank(b.trust) - trustRank(a.trust) || b.content.length - a.content.length,
  );
  for (const [key, item] of added) {
    const reason = settleOne(book, item, settled);
    if (reason === "new") settled.set(key, item);
    else if (reason !== undefined) dropped.push({ nth: item.nth, reason });
  }
  fresh.clear();
  for (const [key, item] of settled) fresh.set(key, item);
  return dropped;
}

function settleOne(book: FactBook, item: Fresh, settled: Map<string, Fresh>): DropReason | "new" | undefined {
  const twin = knownTwin(book, item);
  if (twin !== undefined) return book.confirmed.add(twin, item.nth, witnessesOf(book, item));
  const [key, other] = [...settled].find(([, one]) => isTwin(item.draft, one.draft)) ?? [];
  if (key === undefined || other === undefined) return "new";
  if (isWeaker(item.draft.trust, other.draft.trust)) return "echo";
  settled.set(key, { ...other, episodes: [...new Set([...other.episodes, ...item.episodes])] });
  return "repeated";
}
