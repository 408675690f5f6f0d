import { QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiError } from "./client.ts";

/** Asked again only where another answer may come: a refusal stays one. */
const mayPass = (error: Error): boolean => !(error instanceof ApiError) || error.status === 0 || error.status >= 500;

export const SESSION_KEY = "session";

export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError(error, { queryKey, state }) {
      const isOver = error instanceof ApiError && error.status === 401;
      // Whoever was never signed in is led on by the route itself, before it shows anything: twice would load the page twice.
      const isFirst = queryKey[0] === SESSION_KEY && state.data === undefined;
      if (!isOver || isFirst || location.pathname === "/signin") return;
      location.assign(signInFor(location.pathname + location.search));
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (failures, error) => failures < 2 && mayPass(error),
      retryDelay: (failures) => 500 * 2 ** failures,
    },
  },
});

export const signInFor = (path: string): string => `/signin?to=${encodeURIComponent(path)}`;
