/** All tables of sentence forms, in the order in which they are tried. */
import { CHANGES } from "./patterns/changes.ts";
import { EVENTS, EVENTS_OF_THINGS } from "./patterns/events.ts";
import { HAVING, IN_PASSING, NAMES, OWN } from "./patterns/family.ts";
import { GERMAN, GERMAN_ORDERS } from "./patterns/german.ts";
import { CONDITIONS, HEALTH } from "./patterns/health.ts";
import { IDENTITY } from "./patterns/identity.ts";
import { CONDITIONAL_ORDERS, ORDERS } from "./patterns/instructions.ts";
import { NOTES } from "./patterns/notes.ts";
import { OCCASIONS, PLANS } from "./patterns/plans.ts";
import { FAVOURITES, OBJECT_FIRST, PREFERENCES } from "./patterns/preferences.ts";
import { DECISIONS, MEANS, PRACTICES, RESOLUTIONS, USES } from "./patterns/project.ts";
import { PURSUITS } from "./patterns/pursuits.ts";
import { ROLES } from "./patterns/roles.ts";
import type { RuleTable, Table } from "./table.ts";

/** For a clause whose subject is the speaker, or something of theirs: the first table that finds something counts. */
export const OF_SPEAKER: readonly Table[] = [
  CHANGES,
  DECISIONS,
  HEALTH,
  CONDITIONS,
  IDENTITY,
  ROLES,
  OWN,
  NAMES,
  HAVING,
  FAVOURITES,
  PREFERENCES,
  EVENTS_OF_THINGS,
  EVENTS,
  OCCASIONS,
  PLANS,
  PURSUITS,
  PRACTICES,
  MEANS,
  USES,
];

/** For a clause about somebody else who is named. */
export const OF_OTHERS: readonly Table[] = [IDENTITY, ROLES, PREFERENCES];

/** For a clause in which the others found nothing: it has no subject, or a German one. Each of them may find something. */
export const WITHOUT_SUBJECT: readonly Table[] = [OBJECT_FIRST, RESOLUTIONS, GERMAN];

/** For a whole sentence, beside what its clauses say. */
export const OF_SENTENCE: readonly Table[] = [IN_PASSING];

/** For what somebody asks to remember, when no other table knows it. */
export const OF_NOTES: readonly Table[] = [NOTES];

export const FACT_TABLES: readonly Table[] = [...OF_SPEAKER, ...WITHOUT_SUBJECT, ...OF_SENTENCE, ...OF_NOTES];
export const RULE_TABLES: readonly RuleTable[] = [CONDITIONAL_ORDERS, ORDERS, GERMAN_ORDERS];
