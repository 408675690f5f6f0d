/** How to work: the ladder that rules climb, and each rule with its marks and what is missing for its next step. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { ApiRules, ApiRulesQuery } from "../../../../src/doors/http/api/types.ts";
import { rulesQuery } from "../../api/queries.ts";
import { dayWords, endOf, useDay } from "../../frame/as-of.ts";
import { useButler } from "../../frame/link.tsx";
import { usePageSearch } from "../../frame/search-params.ts";
import { Chips, type Filter } from "../../parts/chips.tsx";
import { Command, Empty } from "../../parts/empty.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Loading } from "../../parts/loading.tsx";
import { LongList } from "../../parts/long-list.tsx";
import { Page } from "../../parts/page.tsx";
import { counted } from "../../parts/words.ts";
import { TRUST, useFreeFilter, useScopeFilter } from "../facts/filters.ts";
import { Ladder } from "./ladder.tsx";
import { RuleLine } from "./rule-line.tsx";

const STATE: Filter = {
  key: "state",
  label: "state",
  unset: "known now",
  options: [
    ["active", "active"],
    ["fading", "fading"],
    ["expired", "expired"],
    ["retracted", "forgotten"],
    ["all", "all"],
  ],
};

const MATURITY: Filter = {
  key: "maturity",
  label: "step",
  unset: "any",
  options: [
    ["candidate", "candidate"],
    ["established", "established"],
    ["proven", "proven"],
    ["anti_pattern", "warning"],
  ],
};

const PAGE = 100;

export function RulesPage() {
  const butler = useButler() ?? "";
  const day = useDay();
  const as_of = endOf(day);
  const { state, maturity, scope, trust, reader, tag, q } = usePageSearch();
  const query = { state, maturity, scope, trust, reader, tag, q, as_of, limit: PAGE } as unknown as ApiRulesQuery;
  const { data, error, hasNextPage, isFetching, fetchNextPage, refetch } = useInfiniteQuery(rulesQuery(butler, query));
  const rules = useMemo(() => data?.pages.flatMap((page) => page.rules) ?? [], [data]);
  const tags = useMemo(() => [...new Set(rules.flatMap((rule) => rule.tags))].sort(), [rules]);
  const filters = [
    STATE,
    MATURITY,
    useScopeFilter(butler),
    TRUST,
    useFreeFilter("reader", "read by", "anyone", ["patterns"]),
    useFreeFilter("tag", "tag", "any", tags),
  ];
  const isFiltered = [state, maturity, scope, trust, reader, tag, q].some((value) => value !== undefined);
  const ladder = data?.pages[0]?.ladder;
  return (
    <Page
      name={`${butler} · Rules`}
      sentence={
        data !== undefined && (isFiltered || day !== undefined)
          ? `${hasNextPage ? "More than " : ""}${counted(rules.length, "rule")} ${isFiltered ? "like that" : `on ${dayWords(day ?? "")}`}.`
          : ladderSentence(ladder)
      }
    >
      {ladder && <Ladder butler={butler} counts={ladder} />}
      <Chips filters={filters} words="Words in a rule" />
      {error && <Failure error={error} again={() => void refetch()} />}
      {data === undefined && !error && <Loading />}
      {data !== undefined && rules.length === 0 && !hasNextPage && (
        <Empty
          says={
            isFiltered || day !== undefined
              ? "No rule is like that."
              : "No rules yet. They come from what agents are told again and again, or by hand:"
          }
        >
          {!isFiltered && day === undefined && (
            <Command text={`butler remember "Use pnpm instead of npm here." --rule --butler ${butler}`} />
          )}
        </Empty>
      )}
      <LongList
        label="Rules"
        rows={rules}
        keyOf={({ id }) => id}
        height={84}
        hasMore={hasNextPage}
        isFetching={isFetching}
        more={fetchNextPage}
        render={(rule) => <RuleLine rule={rule} butler={butler} at={as_of} />}
      />
    </Page>
  );
}

function ladderSentence(ladder: ApiRules["ladder"] | undefined): string {
  if (!ladder) return "How to work.";
  const { candidate, established, proven, anti_pattern } = ladder;
  const rules = candidate + established + proven;
  if (rules + anti_pattern === 0) return "No rules yet.";
  const tried = proven > 0 ? `, ${proven.toLocaleString("en")} of them proven` : "";
  const warnings = anti_pattern > 0 ? `, and ${counted(anti_pattern, "warning")} of what to avoid` : "";
  return `${counted(rules, "rule")} to work by${tried}${warnings}.`;
}
