/** The filters of the episodes; sessions are the last ones of the log. */
import type { ApiEpisode } from "../../../../src/doors/http/api/types.ts";
import { usePageSearch } from "../../frame/search-params.ts";
import type { Filter } from "../../parts/chips.tsx";
import { relativeTime, useNow } from "../../parts/when.tsx";
import { useFreeFilter, useScopeFilter } from "../facts/filters.ts";
import { type Session, sessionWords } from "../sessions/session-words.ts";
import { TIER_WORDS } from "./tier.tsx";

const STATUS: Filter = {
  key: "status",
  label: "learning",
  unset: "any",
  options: [
    ["pending", "waits to be learned from"],
    ["consolidated", "learned from"],
    ["failed", "could not be learned from"],
    ["dead_letter", "given up"],
  ],
};

const TIER: Filter = {
  key: "tier",
  label: "tier",
  unset: "any",
  options: Object.entries(TIER_WORDS).map(([tier, words]) => [tier, `${tier} (${words})`]),
};

const STATE: Filter = { key: "state", label: "state", unset: "kept", options: [["retracted", "forgotten"]] };

const MOST_SESSIONS = 20;

export function useEpisodeFilters(
  butler: string,
  sessions: ReadonlyMap<string, Session>,
  episodes: readonly ApiEpisode[],
): readonly Filter[] {
  const now = useNow();
  const { session } = usePageSearch();
  const last = [...sessions.values()]
    .slice(0, MOST_SESSIONS)
    .map((one) => [one.session_id, `${sessionWords(one)}, ${relativeTime(one.at, now)}`] as const);
  const isListed = session === undefined || last.some(([id]) => id === session);
  const tags = [...new Set(episodes.flatMap((episode) => episode.tags))].sort();
  return [
    STATUS,
    TIER,
    { key: "session", label: "session", unset: "any", options: isListed ? last : [[session, session], ...last] },
    useScopeFilter(butler),
    useFreeFilter("tag", "tag", "any", tags),
    STATE,
  ];
}
