/** Every route of the pages' API. */
import { z } from "zod";
import { viewActivity } from "../../../engine/views/activity.ts";
import { viewEpisodes } from "../../../engine/views/episodes.ts";
import { viewFacts } from "../../../engine/views/facts.ts";
import { viewMemory } from "../../../engine/views/memory.ts";
import { viewRules } from "../../../engine/views/rules.ts";
import { viewSearch } from "../../../engine/views/search.ts";
import { viewStats } from "../../../engine/views/stats.ts";
import { viewSubjects } from "../../../engine/views/subjects.ts";
import { viewToday } from "../../../engine/views/today.ts";
import { SessionAnswer, SignedOut, SignIn } from "../access/session-routes.ts";
import { type ApiRoute, callRoute, type Described } from "./define.ts";

export const apiRoutes: readonly ApiRoute[] = [
  callRoute({ id: "Stats", path: "/stats", calls: viewStats }),
  callRoute({ id: "Today", path: "/today", calls: viewToday }),
  callRoute({ id: "Subjects", path: "/subjects", calls: viewSubjects }),
  callRoute({ id: "Facts", path: "/facts", calls: viewFacts }),
  callRoute({ id: "Rules", path: "/rules", calls: viewRules }),
  callRoute({ id: "Episodes", path: "/episodes", calls: viewEpisodes }),
  callRoute({ id: "Memory", path: "/memories/:id", calls: viewMemory }),
  callRoute({ id: "Search", path: "/search", calls: viewSearch }),
  callRoute({ id: "Activity", path: "/activity", calls: viewActivity }),
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
];
