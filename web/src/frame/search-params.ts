/** What stands behind the `?` of an address: plain texts, so that a link can be read and written by hand. */
import { useNavigate, useSearch } from "@tanstack/react-router";

export type PageSearch = Readonly<Record<string, string | undefined>>;

export const readSearch = (text: string): Record<string, string> => Object.fromEntries(new URLSearchParams(text));

export function writeSearch(search: Record<string, unknown>): string {
  const given = Object.entries(search).flatMap(([key, value]) =>
    value === undefined || value === "" ? [] : [[key, String(value)]],
  );
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}

export const usePageSearch = (): PageSearch => useSearch({ strict: false }) as PageSearch;

/** Changes some of them in place; undefined takes one away. Typing replaces, choosing adds to the history. */
export function useSetSearch(): (change: PageSearch, replace?: boolean) => void {
  const navigate = useNavigate();
  return (change, replace = false) =>
    void navigate({
      to: ".",
      search: ((before: PageSearch) => ({ ...before, ...change })) as never,
      replace,
      resetScroll: false,
    });
}
