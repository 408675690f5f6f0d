/** What waits for a person: kept out of context blocks because of who said it, or contradicted. Each is confirmed, forgotten or undone here. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { ApiReview } from "../../../../src/doors/http/api/types.ts";
import { reviewQuery } from "../../api/queries.ts";
import { useMayWrite, useWrites } from "../../api/writes.ts";
import { A, memoryHref } from "../../frame/link.tsx";
import { Button } from "../../parts/actions.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Section } from "../../parts/page.tsx";
import { Told } from "../../parts/told.tsx";
import { UndoWhatCame } from "../../parts/undo.tsx";
import { When } from "../../parts/when.tsx";
import { SAID_BY } from "../../parts/words.ts";
import styles from "./review.module.css";

type Item = ApiReview["items"][number];

/** As many stand above what was learned; the others are a click away. */
const FIRST = 3;

/** Nothing is shown where nothing waits. */
export function Review({ butler }: { readonly butler: string }) {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = useInfiniteQuery(
    reviewQuery(butler),
  );
  const [isWhole, setWhole] = useState(false);
  if (error) return <Failure error={error} again={() => void refetch()} />;
  const items = data?.pages.flatMap((page) => page.items) ?? [];
  if (items.length === 0) return null;
  const shown = isWhole ? items : items.slice(0, FIRST);
  const more = () => (isWhole ? void fetchNextPage() : setWhole(true));
  return (
    <Section title="To review">
      <ul>
        {shown.map((item) => (
          <li key={item.id} className={styles.item}>
            <ItemText item={item} butler={butler} />
            <Decide item={item} butler={butler} />
          </li>
        ))}
      </ul>
      {(hasNextPage || shown.length < items.length) && (
        <p className={styles.more}>
          <Button onClick={more}>
            {isFetchingNextPage
              ? "Loading …"
              : isWhole
                ? "More"
                : `Show all${hasNextPage ? "" : ` ${items.length}`} that wait`}
          </Button>
        </p>
      )}
    </Section>
  );
}

function ItemText({ item, butler }: { readonly item: Item; readonly butler: string }) {
  const { id, type, text, trust, kept_out, claims, review_until } = item;
  return (
    <div className={styles.words}>
      <A to={memoryHref(butler, id)} className={styles.text} data-row>
        <Told text={text} isFact={type === "fact"} />
      </A>
      {claims.map((claim) => (
        <p key={claim.id} className={styles.claim}>
          Against it, {SAID_BY[claim.trust] ?? claim.trust}: <A to={memoryHref(butler, claim.id)}>{claim.text}</A>
        </p>
      ))}
      <p className={styles.about}>
        {SAID_BY[trust] ?? trust}
        {kept_out && " · kept out of context blocks until another source says it or you confirm it"} · leaves this list{" "}
        <When at={review_until} />
      </p>
    </div>
  );
}

function Decide({ item, butler }: { readonly item: Item; readonly butler: string }) {
  const writes = useWrites(butler);
  const mayWrite = useMayWrite();
  const { id, text, event_id } = item;
  if (!mayWrite) return null;
  return (
    <div className={styles.decide}>
      <Button onClick={() => writes.confirm(id, text)}>Confirm</Button>
      <Button onClick={() => void writes.forget(id, text)}>Forget</Button>
      {event_id !== null && <UndoWhatCame butler={butler} cause={{ event: event_id }} words="Undo" />}
    </div>
  );
}
