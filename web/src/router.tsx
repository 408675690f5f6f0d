/** The addresses of the pages. Each page is loaded when it is opened; the first one brings the frame. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { ApiError } from "./api/client.ts";
import { sessionQuery } from "./api/queries.ts";
import { queryClient, signInFor } from "./api/query-client.ts";
import { Frame } from "./frame/frame.tsx";
import { readSearch, writeSearch } from "./frame/search-params.ts";
import { Failure, NotThere } from "./parts/failure.tsx";
import { Loading } from "./parts/loading.tsx";

const root = createRootRoute({ component: Outlet, notFoundComponent: NotThere });

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/signin",
  component: lazyRouteComponent(() => import("./pages/sign-in.tsx"), "SignIn"),
});

const frame = createRoute({
  getParentRoute: () => root,
  id: "frame",
  component: Frame,
  errorComponent: ({ error }) => <Failure error={error instanceof Error ? error : new Error(String(error))} />,
  async beforeLoad({ location }) {
    try {
      await queryClient.ensureQueryData(sessionQuery);
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) throw redirect({ href: signInFor(location.href) });
      throw error;
    }
  },
});

const page = (path: string, component: ReturnType<typeof lazyRouteComponent>) =>
  createRoute({ getParentRoute: () => frame, path, component });

const BUTLER = "/butlers/$name/memory";

const pages = [
  page(
    "/memory",
    lazyRouteComponent(() => import("./pages/fleet.tsx"), "FleetPage"),
  ),
  page(
    "/memory/search",
    lazyRouteComponent(() => import("./pages/search.tsx"), "FleetSearchPage"),
  ),
  page(
    "/memory/activity",
    lazyRouteComponent(() => import("./pages/activity.tsx"), "FleetActivityPage"),
  ),
  page(
    BUTLER,
    lazyRouteComponent(() => import("./pages/today.tsx"), "TodayPage"),
  ),
  page(
    `${BUTLER}/search`,
    lazyRouteComponent(() => import("./pages/search.tsx"), "SearchPage"),
  ),
  page(
    `${BUTLER}/activity`,
    lazyRouteComponent(() => import("./pages/activity.tsx"), "ActivityPage"),
  ),
  page(
    `${BUTLER}/facts`,
    lazyRouteComponent(() => import("./pages/facts/facts.tsx"), "FactsPage"),
  ),
  page(
    `${BUTLER}/rules`,
    lazyRouteComponent(() => import("./pages/rules/rules.tsx"), "RulesPage"),
  ),
  page(
    `${BUTLER}/episodes`,
    lazyRouteComponent(() => import("./pages/episodes/episodes.tsx"), "EpisodesPage"),
  ),
  page(
    `${BUTLER}/sessions`,
    lazyRouteComponent(() => import("./pages/sessions/sessions.tsx"), "SessionsPage"),
  ),
  page(
    `${BUTLER}/sessions/$id`,
    lazyRouteComponent(() => import("./pages/sessions/session.tsx"), "SessionPage"),
  ),
  page(
    `${BUTLER}/m/$id`,
    lazyRouteComponent(() => import("./pages/memory/memory.tsx"), "MemoryPage"),
  ),
  page(
    `${BUTLER}/preview`,
    lazyRouteComponent(() => import("./pages/preview/preview.tsx"), "PreviewPage"),
  ),
  page(
    `${BUTLER}/runs`,
    lazyRouteComponent(() => import("./pages/runs/runs.tsx"), "RunsPage"),
  ),
  page(
    `${BUTLER}/runs/$id`,
    lazyRouteComponent(() => import("./pages/runs/run.tsx"), "RunPage"),
  ),
  page(
    `${BUTLER}/changes`,
    lazyRouteComponent(() => import("./pages/changes/changes.tsx"), "ChangesPage"),
  ),
  page(
    "/memory/health",
    lazyRouteComponent(() => import("./pages/health/fleet-health.tsx"), "FleetHealthPage"),
  ),
  page(
    `${BUTLER}/health`,
    lazyRouteComponent(() => import("./pages/health/health.tsx"), "HealthPage"),
  ),
  page(
    `${BUTLER}/settings`,
    lazyRouteComponent(() => import("./pages/settings/settings.tsx"), "SettingsPage"),
  ),
];

export const router = createRouter({
  routeTree: root.addChildren([signIn, frame.addChildren(pages)]),
  parseSearch: readSearch,
  stringifySearch: writeSearch,
  defaultPreload: "intent",
  defaultPendingComponent: Loading,
  defaultNotFoundComponent: NotThere,
  defaultErrorComponent: ({ error }) => <Failure error={error instanceof Error ? error : new Error(String(error))} />,
  scrollRestoration: true,
});
