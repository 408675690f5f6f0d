/** The filters of the facts; subjects are those that there are. */
import { useQuery } from "@tanstack/react-query";
import { scopesQuery, subjectsQuery } from "../../api/queries.ts";
import { usePageSearch } from "../../frame/search-params.ts";
import type { Filter } from "../../parts/chips.tsx";
import { SAID_BY, scopeWords } from "../../parts/words.ts";

export const TRUST: Filter = { key: "trust", label: "said by", unset: "anyone", options: Object.entries(SAID_BY) };

const STATE: Filter = {
  key: "state",
  label: "state",
  unset: "known now",
  options: [
    ["active", "active"],
    ["fading", "fading"],
    ["superseded", "superseded"],
    ["expired", "expired"],
    ["retracted", "forgotten"],
    ["all", "all"],
  ],
};

const ORDER: Filter = { key: "order", label: "order", unset: "by subject", options: [["newest", "newest first"]] };

const MOST_SUBJECTS = 100;

export function useFactFilters(butler: string): readonly Filter[] {
  const { data } = useQuery(subjectsQuery(butler, { limit: MOST_SUBJECTS }));
  const subjects = data?.subjects.map(({ subject, name, facts }) => [subject, `${name} (${facts})`] as const) ?? [];
  return [
    STATE,
    { key: "subject", label: "about", unset: "everybody and everything", options: subjects },
    useScopeFilter(butler),
    TRUST,
    useFreeFilter("reader", "read by", "anyone", ["patterns"]),
    useFreeFilter("tag", "tag", "any", []),
    ORDER,
  ];
}

/** The scopes in which something is remembered. */
export function useScopeFilter(butler: string): Filter {
  const { scope } = usePageSearch();
  const { data } = useQuery(scopesQuery(butler));
  const scopes = new Set([...(data?.scopes ?? []), ...(scope === undefined ? [] : [scope])]);
  return {
    key: "scope",
    label: "where",
    unset: "everywhere",
    options: [...scopes].map((one) => [one, scopeWords(one)]),
  };
}

/** A filter whose values come from links: the one of the address is among its options. */
export function useFreeFilter(key: string, label: string, unset: string, known: readonly string[]): Filter {
  const value = usePageSearch()[key];
  const all = new Set([...known, ...(value === undefined ? [] : [value])]);
  return { key, label, unset, options: [...all].map((one) => [one, one]) };
}
