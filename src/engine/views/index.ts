/** All views. */
import type { z } from "zod";
import { viewActivity } from "./activity.ts";
import { viewChanges } from "./changes.ts";
import { viewCounts } from "./counts.ts";
import { viewDeadLetters } from "./dead-letters.ts";
import type { View } from "./define.ts";
import { viewEpisodes } from "./episodes.ts";
import { viewFacts } from "./facts.ts";
import { viewMemory } from "./memory.ts";
import { viewPreview } from "./preview.ts";
import { viewRules } from "./rules.ts";
import { viewRun } from "./run.ts";
import { viewRuns } from "./runs.ts";
import { viewScopes } from "./scopes.ts";
import { viewSearch } from "./search.ts";
import { viewStats } from "./stats.ts";
import { viewSubjects } from "./subjects.ts";
import { viewTexts } from "./texts.ts";
import { viewToday } from "./today.ts";

export const views: readonly View<string, z.ZodObject, z.ZodObject>[] = [
  viewStats,
  viewCounts,
  viewScopes,
  viewToday,
  viewSubjects,
  viewFacts,
  viewRules,
  viewEpisodes,
  viewMemory,
  viewSearch,
  viewActivity,
  viewRuns,
  viewRun,
  viewDeadLetters,
  viewTexts,
  viewPreview,
  viewChanges,
];

const byName = new Map(views.map((view) => [view.name, view]));

export const viewNamed = (name: string): View | undefined => byName.get(name);
