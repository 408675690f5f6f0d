/** Every route of the pages' API. */
import { z } from "zod";
import { memoryWhy } from "../../../engine/tools/memory-why.ts";
import { Event, viewActivity } from "../../../engine/views/history/activity.ts";
import { viewChanges } from "../../../engine/views/history/changes.ts";
import { viewDeadLetters } from "../../../engine/views/history/dead-letters.ts";
import { viewRun } from "../../../engine/views/history/run.ts";
import { viewRuns } from "../../../engine/views/history/runs.ts";
import { viewEpisodes } from "../../../engine/views/lists/episodes.ts";
import { viewFacts } from "../../../engine/views/lists/facts.ts";
import { viewReview } from "../../../engine/views/lists/review.ts";
import { viewRules } from "../../../engine/views/lists/rules.ts";
import { viewSubjects } from "../../../engine/views/lists/subjects.ts";
import { viewCounts } from "../../../engine/views/numbers/counts.ts";
import { viewScopes } from "../../../engine/views/numbers/scopes.ts";
import { viewStats } from "../../../engine/views/numbers/stats.ts";
import { viewToday } from "../../../engine/views/numbers/today.ts";
import { viewMemory } from "../../../engine/views/recall/memory.ts";
import { viewPreview } from "../../../engine/views/recall/preview.ts";
import { viewSearch } from "../../../engine/views/recall/search.ts";
import { SessionAnswer, SignedOut, SignIn } from "../access/session-routes.ts";
import { type ApiRoute, callRoute, type Described } from "./define.ts";
import { exampleRoutes } from "./examples/routes.ts";
import { fleetRoutes } from "./fleet-routes.ts";
import { homeRoutes } from "./home-routes.ts";
import { LIVE_PATH, LiveQuery } from "./live.ts";
import { tokenRoutes } from "./token-routes.ts";
import { writeRoutes } from "./write-routes.ts";

export const apiRoutes: readonly ApiRoute[] = [
  callRoute({ id: "Stats", path: "/stats", calls: viewStats }),
  callRoute({ id: "Counts", path: "/counts", calls: viewCounts }),
  callRoute({ id: "Scopes", path: "/scopes", calls: viewScopes }),
  callRoute({ id: "Today", path: "/today", calls: viewToday }),
  callRoute({ id: "Subjects", path: "/subjects", calls: viewSubjects }),
  callRoute({ id: "Facts", path: "/facts", calls: viewFacts }),
  callRoute({ id: "Rules", path: "/rules", calls: viewRules }),
  callRoute({ id: "Review", path: "/review", calls: viewReview }),
  callRoute({ id: "Episodes", path: "/episodes", calls: viewEpisodes }),
  callRoute({ id: "Memory", path: "/memories/:id", calls: viewMemory }),
  callRoute({ id: "Search", path: "/search", calls: viewSearch }),
  callRoute({ id: "Activity", path: "/activity", calls: viewActivity }),
  callRoute({ id: "Runs", path: "/runs", calls: viewRuns }),
  callRoute({ id: "OneRun", path: "/runs/:id", calls: viewRun }),
  callRoute({ id: "DeadLetters", path: "/dead-letters", calls: viewDeadLetters }),
  callRoute({ id: "Changes", path: "/changes", calls: viewChanges }),
  callRoute({ id: "Why", path: "/memories/:id/why", calls: memoryWhy }),
  callRoute({ id: "Preview", method: "POST", path: "/preview", calls: viewPreview }),
  ...homeRoutes,
  ...writeRoutes,
  ...tokenRoutes,
  ...exampleRoutes,
  ...fleetRoutes,
];

const nothing = z.strictObject({});

/** Everything that is served below `/api/` for pages: the routes above, and those of their own. */
export const described: readonly Described[] = [
  {
    id: "SignIn",
    method: "POST",
    path: "/api/session",
    summary: "Signs in; the answer sets the cookie",
    input: SignIn,
    answer: SessionAnswer,
  },
  {
    id: "Session",
    method: "GET",
    path: "/api/session",
    summary: "Who is signed in",
    input: nothing,
    answer: SessionAnswer,
  },
  { id: "SignOut", method: "DELETE", path: "/api/session", summary: "Signs out", input: nothing, answer: SignedOut },
  ...apiRoutes,
  {
    id: "Live",
    method: "GET",
    path: LIVE_PATH,
    summary: "Activity as it happens: server-sent events named change, each with an event of the stream",
    input: LiveQuery,
    answer: Event,
    stream: true,
  },
];
