/** Every question that the pages ask, once: its key in the cache and its address. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import type {
  ApiActivity,
  ApiActivityQuery,
  ApiChanges,
  ApiCounts,
  ApiDeadLetters,
  ApiEpisodes,
  ApiEpisodesQuery,
  ApiFacts,
  ApiFactsQuery,
  ApiFleetActivity,
  ApiFleetHealth,
  ApiFleetSearch,
  ApiFleetStats,
  ApiFleetToday,
  ApiHealth,
  ApiMemory,
  ApiOneSession,
  ApiPreview,
  ApiReview,
  ApiRules,
  ApiRulesQuery,
  ApiRun,
  ApiRuns,
  ApiScopes,
  ApiSearch,
  ApiSession,
  ApiSessions,
  ApiSettings,
  ApiStats,
  ApiSubjects,
  ApiToday,
  ApiTokens,
  ApiWhy,
} from "../../../src/doors/http/api/types.ts";
import { getJson, memoryPath, postJson, type Query } from "./client.ts";
import { SESSION_KEY } from "./query-client.ts";

export const sessionQuery = queryOptions({
  queryKey: [SESSION_KEY],
  queryFn: ({ signal }) => getJson<ApiSession>("/api/session", {}, signal),
  staleTime: 5 * 60_000,
});

/** One answer about a butler. Everything about it begins with its name, so that a change can renew it all. */
function of<T>(butler: string, path: string, query: Query = {}) {
  return queryOptions({
    queryKey: ["butler", butler, path, query],
    queryFn: ({ signal }) => getJson<T>(memoryPath(butler, path), query, signal),
    placeholderData: keepPreviousData,
  });
}

/** A list that goes on with its cursor. */
function listOf<T extends { next_cursor: string | null }>(butler: string, path: string, query: Query = {}) {
  return infiniteQueryOptions({
    queryKey: ["butler", butler, path, query],
    queryFn: ({ signal, pageParam }) =>
      getJson<T>(memoryPath(butler, path), { ...query, cursor: pageParam ?? undefined }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page: T) => page.next_cursor,
    placeholderData: keepPreviousData,
  });
}

/** Minutes east of UTC: a day is the reader's day. */
export const zoneMinutes = (): number => -new Date().getTimezoneOffset();

/** Of a large store an answer is what was counted last, and it is counted anew after it. */
const OLD_MS = 60_000;
const COUNTED_MS = 5_000;
const whileOld = (query: { readonly state: { readonly data?: { readonly counted_at: string } | undefined } }) => {
  const counted = query.state.data?.counted_at;
  return counted !== undefined && Date.now() - Date.parse(counted) > OLD_MS ? COUNTED_MS : false;
};

export const statsQuery = (butler: string) => ({ ...of<ApiStats>(butler, "stats"), refetchInterval: whileOld });
export const countsQuery = (butler: string) => of<ApiCounts>(butler, "counts");
export const scopesQuery = (butler: string) => of<ApiScopes>(butler, "scopes");
export const todayQuery = (butler: string, day?: string) =>
  of<ApiToday>(butler, "today", { day, zone_minutes: zoneMinutes() });
export const subjectsQuery = (butler: string, query: Query = {}) => of<ApiSubjects>(butler, "subjects", query);
export const factsQuery = (butler: string, query: ApiFactsQuery) => listOf<ApiFacts>(butler, "facts", query as Query);
export const rulesQuery = (butler: string, query: ApiRulesQuery) => listOf<ApiRules>(butler, "rules", query as Query);
export const episodesQuery = (butler: string, query: ApiEpisodesQuery) =>
  listOf<ApiEpisodes>(butler, "episodes", query as Query);
export const activityQuery = (butler: string, query: ApiActivityQuery) =>
  listOf<ApiActivity>(butler, "activity", query as Query);
export const sessionsQuery = (butler: string) => listOf<ApiSessions>(butler, "sessions");
export const runsQuery = (butler: string, query: Query = {}) => listOf<ApiRuns>(butler, "runs", query);
export const deadLettersQuery = (butler: string) => listOf<ApiDeadLetters>(butler, "dead-letters");
export const reviewQuery = (butler: string) => listOf<ApiReview>(butler, "review");
export const changesQuery = (butler: string, from: string, to?: string) =>
  listOf<ApiChanges>(butler, "changes", { from, to });
export const memoryQuery = (butler: string, id: string, as_of?: string) =>
  of<ApiMemory>(butler, `memories/${encodeURIComponent(id)}`, { as_of });
/** As a session of this project would ask. */
export const whyQuery = (butler: string, id: string, query: string, project: string | undefined) =>
  queryOptions({
    queryKey: ["butler", butler, "why", id, query, project],
    queryFn: ({ signal }) =>
      getJson<ApiWhy>(memoryPath(butler, `memories/${encodeURIComponent(id)}/why`), { query }, signal, project),
    placeholderData: keepPreviousData,
  });
export const searchQuery = (butler: string, query: Query) => of<ApiSearch>(butler, "search", query);
export const runQuery = (butler: string, id: string) => of<ApiRun>(butler, `runs/${encodeURIComponent(id)}`);
export const oneSessionQuery = (butler: string, id: string) =>
  of<ApiOneSession>(butler, `sessions/${encodeURIComponent(id)}`);
export const tokensQuery = (butler: string) => of<ApiTokens>(butler, "tokens");
export const settingsQuery = (butler: string) => of<ApiSettings>(butler, "settings");

/** Asked again every 15 seconds while it is looked at. */
const HEALTH_MS = 15_000;
export const healthQuery = (butler: string) => ({
  ...of<ApiHealth>(butler, "health"),
  refetchInterval: HEALTH_MS,
});

export const previewQuery = (
  butler: string,
  body: { prompt: string; token_budget?: number; as_of?: string },
  project?: string,
) =>
  queryOptions({
    queryKey: ["butler", butler, "preview", body, project],
    queryFn: ({ signal }) => postJson<ApiPreview>(memoryPath(butler, "preview"), body, { signal, project }),
    placeholderData: keepPreviousData,
    enabled: body.prompt.trim() !== "",
  });

/** One answer about all butlers. */
function ofAll<T>(path: string, query: Query = {}) {
  return queryOptions({
    queryKey: ["fleet", path, query],
    queryFn: ({ signal }) => getJson<T>(`/api/memory/${path}`, query, signal),
    placeholderData: keepPreviousData,
  });
}

/** A butler that was only opening its store answers a little later. */
const AGAIN_MS = 5_000;
const whilePartial = (query: { readonly state: { readonly data?: { readonly partial: boolean } | undefined } }) =>
  query.state.data?.partial === true ? AGAIN_MS : false;

export const fleetStatsQuery = { ...ofAll<ApiFleetStats>("stats"), refetchInterval: whilePartial };
export const fleetTodayQuery = (day?: string) => ({
  ...ofAll<ApiFleetToday>("today", { day, zone_minutes: zoneMinutes() }),
  refetchInterval: whilePartial,
});
export const fleetSearchQuery = (query: Query) => ({
  ...ofAll<ApiFleetSearch>("search", query),
  refetchInterval: whilePartial,
});
export const fleetHealthQuery = { ...ofAll<ApiFleetHealth>("health"), refetchInterval: HEALTH_MS };
export const fleetActivityQuery = (query: Query = {}) =>
  infiniteQueryOptions({
    queryKey: ["fleet", "activity", query],
    queryFn: ({ signal, pageParam }) =>
      getJson<ApiFleetActivity>("/api/memory/activity", { ...query, cursor: pageParam ?? undefined }, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page: ApiFleetActivity) => page.next_cursor,
  });
