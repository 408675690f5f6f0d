/** What is true: by subject, one line each; its chain of earlier values opens in place. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { ApiFact, ApiFactsQuery } from "../../../../src/doors/http/api/types.ts";
import { factsQuery, statsQuery } from "../../api/queries.ts";
import { endOf, useDay } from "../../frame/as-of.ts";
import { useButler } from "../../frame/link.tsx";
import { usePageSearch } from "../../frame/search-params.ts";
import { Chips } from "../../parts/chips.tsx";
import { Command, Empty } from "../../parts/empty.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Loading } from "../../parts/loading.tsx";
import { LongList } from "../../parts/long-list.tsx";
import { Page } from "../../parts/page.tsx";
import { counted } from "../../parts/words.ts";
import { FactLine } from "./fact-line.tsx";
import styles from "./facts.module.css";
import { useFactFilters } from "./filters.ts";

type Row = { readonly key: string; readonly subject: string } | { readonly key: string; readonly fact: ApiFact };

/** A heading before the first fact of each subject. */
function rowsOf(facts: readonly ApiFact[], isGrouped: boolean): Row[] {
  return facts.flatMap((fact, at): Row[] => {
    const row = { key: fact.id, fact };
    const isFirst = isGrouped && facts[at - 1]?.subject.toLowerCase() !== fact.subject.toLowerCase();
    return isFirst ? [{ key: `subject ${fact.id}`, subject: fact.subject }, row] : [row];
  });
}

const PAGE = 100;

export function FactsPage() {
  const butler = useButler() ?? "";
  const as_of = endOf(useDay());
  const { state, scope, tag, reader, trust, subject, q, order } = usePageSearch();
  const query = { state, scope, tag, reader, trust, subject, q, order, as_of, limit: PAGE } as unknown as ApiFactsQuery;
  const { data, error, hasNextPage, isFetching, fetchNextPage, refetch } = useInfiniteQuery(factsQuery(butler, query));
  const filters = useFactFilters(butler);
  const facts = useMemo(() => data?.pages.flatMap((page) => page.facts) ?? [], [data]);
  const rows = useMemo(() => rowsOf(facts, order !== "newest"), [facts, order]);
  const isFiltered = [state, scope, tag, reader, trust, subject, q].some((value) => value !== undefined);
  return (
    <Page
      name={`${butler} · Facts`}
      sentence={
        <Sentence
          butler={butler}
          isFiltered={isFiltered}
          isPast={as_of !== undefined}
          shown={data === undefined ? undefined : facts.length}
          hasMore={hasNextPage}
        />
      }
    >
      <Chips filters={filters} words="Facts with these words" />
      {error && <Failure error={error} again={() => void refetch()} />}
      {data === undefined && !error && <Loading />}
      {data !== undefined && facts.length === 0 && (
        <Empty
          says={
            isFiltered
              ? "No fact is like that."
              : as_of !== undefined
                ? "No fact was known then. A later day may have some."
                : "Nothing is known yet. Facts come from what is said to agents, or by hand:"
          }
        >
          {!isFiltered && as_of === undefined && (
            <Command text={`butler remember "Hamburg" --fact user lives_in --butler ${butler}`} />
          )}
        </Empty>
      )}
      <LongList
        label="Facts"
        rows={rows}
        keyOf={({ key }) => key}
        height={58}
        hasMore={hasNextPage}
        isFetching={isFetching}
        more={fetchNextPage}
        render={(row) =>
          "fact" in row ? (
            <FactLine fact={row.fact} butler={butler} at={as_of} isAlone={order === "newest"} />
          ) : (
            <h2 className={styles.subject}>{row.subject}</h2>
          )
        }
      />
    </Page>
  );
}

interface SentenceParts {
  readonly butler: string;
  readonly isFiltered: boolean;
  readonly isPast: boolean;
  /** Undefined while nobody knows. */
  readonly shown: number | undefined;
  readonly hasMore: boolean;
}

function Sentence({ butler, isFiltered, isPast, shown, hasMore }: SentenceParts) {
  const isPlain = !isFiltered && !isPast;
  const { data } = useQuery({ ...statsQuery(butler), enabled: isPlain });
  if (!isPlain && shown !== undefined)
    return `${hasMore ? "More than " : ""}${counted(shown, "fact")} ${isFiltered ? "like that" : "known then"}.`;
  if (data === undefined) return "What is true.";
  const { total, by_state, waiting } = data.facts;
  const fading = by_state.fading ?? 0;
  const parts = [
    fading > 0 && `${fading.toLocaleString("en")} of them fading`,
    waiting > 0 && `${waiting} more begin on a day ahead`,
  ];
  return `${counted(total, "fact")} known${parts
    .filter((part) => part !== false)
    .map((part) => `, ${part}`)
    .join("")}.`;
}
