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
  /** Of a token that is bound to scopes: those, whatever the ladder or its role would open. Absent: it is bound to none. */
  readonly scopes?: readonly string[] | undefined;
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

const isBoundAway = ({ scopes }: Viewer, scope: string): boolean => scopes !== undefined && !scopes.includes(scope);

/** The steps from `global` down to this one that the viewer may use, the widest first. */
const openSteps = (viewer: Viewer, scope: string): readonly string[] =>
  ladderOf(scope).filter((step) => !isBoundAway(viewer, step));

/** The steps on which the viewer stands and which it may use. */
export const ownSteps = (viewer: Viewer): readonly string[] => openSteps(viewer, viewer.butler);

/** Every scope that the viewer may look into, asked for or not; `undefined` means every scope of the tenant. */
export const everyVisible = (viewer: Viewer): readonly string[] | undefined =>
  viewer.admin ? viewer.scopes : ownSteps(viewer);

/** The scopes a read looks at, the widest first; `undefined` means every scope of the tenant (admins who asked for `*`). */
export function readableScopes(viewer: Viewer, asked: string | undefined): readonly string[] | undefined {
  if (asked === EVERY_SCOPE) {
    if (!viewer.admin) throw forbidden('scope "*" needs an admin token; leave scope out to read your own.', "scope");
    return viewer.scopes;
  }
  const scope = asked ?? viewer.butler;
  if (!canSee(viewer, scope)) throw foreignScope(viewer, scope);
  return openSteps(viewer, scope);
}

/**
 * The project on which a token stands that is bound to scopes, or undefined where it stands on the butler's own step. A token for one
 * project need not name it with each call.
 */
export function boundProject(butler: string, scopes: readonly string[]): string | undefined {
  if (scopes.includes(butler)) return undefined;
  const [one, ...others] = scopes.filter((scope) => scope !== butler && butlerOf(scope) === butler);
  return one === undefined || others.length > 0 ? undefined : one.slice(butler.length + 1);
}

/** Whoever is bound to scopes stands on one of them, so that what it stores without naming a scope is filed there too. */
export function checkStep(viewer: Viewer): void {
  if (isBoundAway(viewer, viewer.butler)) throw foreignScope(viewer, viewer.butler);
}

/** For work that reads and writes all steps of the ladder at once, such as learning. */
export function checkWholeLadder(viewer: Viewer): void {
  const closed = ladderOf(viewer.butler).find((step) => isBoundAway(viewer, step));
  if (closed !== undefined) throw foreignScope(viewer, closed);
}

/**
 * The scope a write lands in. Without a scope a memory belongs to the project it was told in, or to the butler if it is about the
 * person, since people do not change with the folder they work in; outside of a project it is global.
 */
export function writableScope(viewer: Viewer, asked: string | undefined, aboutPerson = false): string {
  if (asked === EVERY_SCOPE) throw invalid("scope", 'scope "*" is for reading; a memory is stored in one scope.');
  if (asked !== undefined && !canSee(viewer, asked)) throw foreignScope(viewer, asked);
  if (asked !== undefined) return asked;
  const usual = viewer.butler === butlerOf(viewer.butler) ? GLOBAL_SCOPE : learnedScope(viewer.butler, aboutPerson);
  return isBoundAway(viewer, usual) ? viewer.butler : usual;
}

/** The scope of what was learned from episodes of one scope: theirs, and the butler's if it is about the person. */
export const learnedScope = (episodes: string, aboutPerson: boolean): string =>
  aboutPerson ? butlerOf(episodes) : episodes;

const EVERY_BUTLER =
  /(?<![\p{L}\p{N}])(?:all|every|each) (?:of )?(?:(?:my|your|the|our) )?(?:other )?(?:butler|agent|assistant)s?(?![\p{L}\p{N}])|(?<![\p{L}\p{N}])(?:alle|allen|jeder|jedem) (?:meine|meinen )?(?:butler|agent|assistent)(?:en|n)?(?![\p{L}\p{N}])/iu;

/** Whether somebody says that what they tell is for every butler: "tell all my butlers", "every assistant should know". */
export const isForEveryButler = (text: string): boolean => EVERY_BUTLER.test(text);

export function canSee(viewer: Viewer, scope: string): boolean {
  return !isBoundAway(viewer, scope) && (viewer.admin || ladderOf(viewer.butler).includes(scope));
}

function foreignScope(viewer: Viewer, scope: string) {
  const open = viewer.admin && viewer.scopes !== undefined ? viewer.scopes : ownSteps(viewer);
  const own = (open.length > 0 ? open : (viewer.scopes ?? [])).map((step) => `"${step}"`);
  const project = open.length > 0 ? "" : " (X-Butler-Project names a project)";
  return forbidden(`scope "${scope}" is not yours; use ${own.join(" or ")}${project}.`, "scope");
}
