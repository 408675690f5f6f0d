/** The answers of the API as types, for the pages; imported there for types only. */
import type { z } from "zod";
import type { UndoNode } from "../../../engine/domain/undo/tree.ts";
import type { memoryWhy } from "../../../engine/tools/memory-why.ts";
import type { controlUndo } from "../../../engine/views/control/undo.ts";
import type { Event, viewActivity } from "../../../engine/views/history/activity.ts";
import type { viewChanges } from "../../../engine/views/history/changes.ts";
import type { viewDeadLetters } from "../../../engine/views/history/dead-letters.ts";
import type { viewRun } from "../../../engine/views/history/run.ts";
import type { viewRuns } from "../../../engine/views/history/runs.ts";
import type { Episode, viewEpisodes } from "../../../engine/views/lists/episodes.ts";
import type { Fact, viewFacts } from "../../../engine/views/lists/facts.ts";
import type { viewReview } from "../../../engine/views/lists/review.ts";
import type { Rule, viewRules } from "../../../engine/views/lists/rules.ts";
import type { viewSubjects } from "../../../engine/views/lists/subjects.ts";
import type { viewCounts } from "../../../engine/views/numbers/counts.ts";
import type { viewScopes } from "../../../engine/views/numbers/scopes.ts";
import type { viewStats } from "../../../engine/views/numbers/stats.ts";
import type { viewToday } from "../../../engine/views/numbers/today.ts";
import type { viewMemory } from "../../../engine/views/recall/memory.ts";
import type { viewPreview } from "../../../engine/views/recall/preview.ts";
import type { viewSearch } from "../../../engine/views/recall/search.ts";
import type { SessionAnswer } from "../access/session-routes.ts";
import type { Health, Jobs } from "./health-route.ts";

export type { Failure as ApiFailure } from "../../../engine/tools/outcome.ts";

type Answer<V extends { readonly output: z.ZodObject }> = z.infer<V["output"]>;
type Query<V extends { readonly input: z.ZodObject }> = Omit<z.input<V["input"]>, "request_context">;

export type ApiSession = z.infer<typeof SessionAnswer>;
export type ApiStats = Answer<typeof viewStats>;
export type ApiCounts = Answer<typeof viewCounts>;
export type ApiScopes = Answer<typeof viewScopes>;
export type ApiToday = Answer<typeof viewToday>;
export type ApiTodayQuery = Query<typeof viewToday>;
export type ApiSubjects = Answer<typeof viewSubjects>;
export type ApiFacts = Answer<typeof viewFacts>;
export type ApiFactsQuery = Query<typeof viewFacts>;
export type ApiFact = z.infer<typeof Fact>;
export type ApiRules = Answer<typeof viewRules>;
export type ApiRulesQuery = Query<typeof viewRules>;
export type ApiRule = z.infer<typeof Rule>;
export type ApiEpisodes = Answer<typeof viewEpisodes>;
export type ApiEpisodesQuery = Query<typeof viewEpisodes>;
export type ApiEpisode = z.infer<typeof Episode>;
export type ApiMemory = Answer<typeof viewMemory>;
export type ApiSearch = Answer<typeof viewSearch>;
export type ApiSearchQuery = Query<typeof viewSearch>;
export type ApiActivity = Answer<typeof viewActivity>;
export type ApiActivityQuery = Query<typeof viewActivity>;
export type ApiEvent = z.infer<typeof Event>;
export type ApiRuns = Answer<typeof viewRuns>;
export type ApiRun = Answer<typeof viewRun>;
export type ApiReview = Answer<typeof viewReview>;
export type ApiDeadLetters = Answer<typeof viewDeadLetters>;
export type ApiChanges = Answer<typeof viewChanges>;
export type ApiPreview = Answer<typeof viewPreview>;
export type ApiPreviewBody = Query<typeof viewPreview>;
export type ApiWhy = Answer<typeof memoryWhy>;
export type ApiUndo = Answer<typeof controlUndo>;
export type ApiUndoNode = UndoNode;
export type ApiJobs = z.infer<typeof Jobs>;
export type ApiHealth = z.infer<typeof Health>;
export type { ApiExamples, ApiExamplesRemoved } from "./examples/routes.ts";
export type {
  ApiFleetActivity,
  ApiFleetHealth,
  ApiFleetSearch,
  ApiFleetStats,
  ApiFleetToday,
} from "./fleet-routes.ts";
export type { ApiOneSession, ApiSessions, ApiSettings } from "./home-routes.ts";
export type { ApiNewToken, ApiTokens } from "./token-routes.ts";
