/** All views. */
import type { z } from "zod";
import { controlErase } from "./control/erase.ts";
import { controlExport } from "./control/export.ts";
import { viewReceipts } from "./control/receipts.ts";
import { controlRedaction } from "./control/redaction.ts";
import { controlUndo } from "./control/undo.ts";
import type { View } from "./define.ts";
import { viewActivity } from "./history/activity.ts";
import { viewChanges } from "./history/changes.ts";
import { viewDeadLetters } from "./history/dead-letters.ts";
import { viewRun } from "./history/run.ts";
import { viewRuns } from "./history/runs.ts";
import { viewEpisodes } from "./lists/episodes.ts";
import { viewFacts } from "./lists/facts.ts";
import { viewReview } from "./lists/review.ts";
import { viewRules } from "./lists/rules.ts";
import { viewSubjects } from "./lists/subjects.ts";
import { viewTexts } from "./lists/texts.ts";
import { viewCounts } from "./numbers/counts.ts";
import { viewScopes } from "./numbers/scopes.ts";
import { viewStats } from "./numbers/stats.ts";
import { viewToday } from "./numbers/today.ts";
import { viewMemory } from "./recall/memory.ts";
import { viewPreview } from "./recall/preview.ts";
import { viewSearch } from "./recall/search.ts";

export const views: readonly View<string, z.ZodObject, z.ZodObject>[] = [
  viewStats,
  viewCounts,
  viewScopes,
  viewToday,
  viewSubjects,
  viewFacts,
  viewRules,
  viewReview,
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
  controlUndo,
  controlErase,
  controlExport,
  controlRedaction,
  viewReceipts,
];

const byName = new Map(views.map((view) => [view.name, view]));

export const viewNamed = (name: string): View | undefined => byName.get(name);
