/** All views. */
import type { z } from "zod";
import { viewActivity } from "./activity.ts";
import type { View } from "./define.ts";
import { viewEpisodes } from "./episodes.ts";
import { viewFacts } from "./facts.ts";
import { viewMemory } from "./memory.ts";
import { viewRules } from "./rules.ts";
import { viewSearch } from "./search.ts";
import { viewStats } from "./stats.ts";
import { viewSubjects } from "./subjects.ts";
import { viewToday } from "./today.ts";

export const views: readonly View<string, z.ZodObject, z.ZodObject>[] = [
  viewStats,
  viewToday,
  viewSubjects,
  viewFacts,
  viewRules,
  viewEpisodes,
  viewMemory,
  viewSearch,
  viewActivity,
];

const byName = new Map(views.map((view) => [view.name, view]));

export const viewNamed = (name: string): View | undefined => byName.get(name);
