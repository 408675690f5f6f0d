/**
 * Who may see what. Scopes are the steps of a ladder: `global` (every butler of the tenant), `<butler>`, `<butler>/<project>`.
 * A caller reads the steps it stands on. Steps are compared for equality and never by prefix: a scope `user1` must not open
 * `user10`, nor `coder/app` `coder/app2`.
 */
import { forbidden, invalid } from "./errors.ts";

export const GLOBAL_SCOPE = "global";
export const EVERY_SCOPE = "*";

export interface Viewer {
  readonly tenant: string;
  /** The step one stands on: the butler's name, or `<butler>/<project>` for a session in a project. */
  readonly butler: string;
  readonly admin: boolean;
}

/** A project's memories are filed under its butler, so that no other butler's token opens them by naming the project. */
export const projectScope = (butler: string, project: string): string => `${butler}/${project}`;

/** A name that is a step of its own: a slash would make it another butler's project. */
export const isButlerName = (name: string): boolean =>
  name !== "" && name !== GLOBAL_SCOPE && name !== EVERY_SCOPE && !name.includes("/");

/** The butler whose step, or whose project, a scope is. */
export const butlerOf = (scope: string): string => scope.split("/", 1)[0] ?? scope;

/** The steps from `global` down to this one, the widest first. */
export const ladderOf = (scope: string): readonly string[] => [...new Set([GLOBAL_SCOPE, butlerOf(scope), scope])];

/** The scopes a read looks at, the widest first; `undefined` means every scope of the tenant (admins who asked for `*`). */
export function readableScopes(viewer: Viewer, asked: string | undefined): readonly string[] | undefined {
  if (asked === EVERY_SCOPE) {
    if (!viewer.admin) throw forbidden('scope "*" needs an admin token; leave scope out to read your own.', "scope");
    return undefined;
  }
  const scope = asked ?? viewer.butler;
  if (!canSee(viewer, scope)) throw foreignScope(viewer, scope);
  return ladderOf(scope);
}

/**
 * The scope a write lands in. Without a scope a memory belongs to the project it was told in, or to the butler if it is about the
 * person, since people do not change with the folder they work in; outside of a project it is global.
 */
export function writableScope(viewer: Viewer, asked: string | undefined, aboutPerson = false): string {
  if (asked === EVERY_SCOPE) throw invalid("scope", 'scope "*" is for reading; a memory is stored in one scope.');
  if (asked !== undefined && !canSee(viewer, asked)) throw foreignScope(viewer, asked);
  if (asked !== undefined) return asked;
  return viewer.butler === butlerOf(viewer.butler) ? GLOBAL_SCOPE : learnedScope(viewer.butler, aboutPerson);
}

/** The scope of what was learned from episodes of one scope: theirs, and the butler's if it is about the person. */
export const learnedScope = (episodes: string, aboutPerson: boolean): string =>
  aboutPerson ? butlerOf(episodes) : episodes;

const EVERY_BUTLER =
  /(?<![\p{L}\p{N}])(?:all|every|each) (?:of )?(?:(?:my|your|the|our) )?(?:other )?(?:butler|agent|assistant)s?(?![\p{L}\p{N}])|(?<![\p{L}\p{N}])(?:alle|allen|jeder|jedem) (?:meine|meinen )?(?:butler|agent|assistent)(?:en|n)?(?![\p{L}\p{N}])/iu;

/** Whether somebody says that what they tell is for every butler: "tell all my butlers", "every assistant should know". */
export const isForEveryButler = (text: string): boolean => EVERY_BUTLER.test(text);

export function canSee(viewer: Viewer, scope: string): boolean {
  return viewer.admin || ladderOf(viewer.butler).includes(scope);
}

function foreignScope(viewer: Viewer, scope: string) {
  const own = ladderOf(viewer.butler).map((step) => `"${step}"`);
  return forbidden(`scope "${scope}" is not yours; use ${own.join(" or ")}.`, "scope");
}
