/**
 * Who may see what. A caller sees its tenant, and there `global` plus its own scope, compared for equality and never by
 * prefix: a scope `user1` must not open `user10`.
 */
import { forbidden, invalid } from "./errors.ts";

export const GLOBAL_SCOPE = "global";
export const EVERY_SCOPE = "*";

export interface Viewer {
  readonly tenant: string;
  /** One's own scope: the butler's name, or `<butler>/<project>` for a session in a project. */
  readonly butler: string;
  readonly admin: boolean;
  /** The butler itself, when `butler` is a project of it: whoever names it means their own scope. */
  readonly host?: string | undefined;
}

/** A project's memories are filed under its butler, so that no other butler's token opens them by naming the project. */
export const projectScope = (butler: string, project: string): string => `${butler}/${project}`;

/** The scopes a read looks at; `undefined` means every scope of the tenant (admins who asked for `*`). */
export function readableScopes(viewer: Viewer, asked: string | undefined): readonly string[] | undefined {
  if (asked === undefined) return [GLOBAL_SCOPE, viewer.butler];
  if (asked === EVERY_SCOPE) {
    if (!viewer.admin) throw forbidden('scope "*" needs an admin token; leave scope out to read your own.', "scope");
    return undefined;
  }
  if (asked === GLOBAL_SCOPE) return [GLOBAL_SCOPE];
  const scope = asked === viewer.host ? viewer.butler : asked;
  if (scope !== viewer.butler && !viewer.admin) throw foreignScope(viewer, asked);
  return [GLOBAL_SCOPE, scope];
}

/** The scope a write lands in. */
export function writableScope(viewer: Viewer, asked: string | undefined): string {
  const scope = asked === undefined ? GLOBAL_SCOPE : asked === viewer.host ? viewer.butler : asked;
  if (scope === EVERY_SCOPE) throw invalid("scope", 'scope "*" is for reading; a memory is stored in one scope.');
  if (scope !== GLOBAL_SCOPE && scope !== viewer.butler && !viewer.admin) throw foreignScope(viewer, scope);
  return scope;
}

export function canSee(viewer: Viewer, scope: string): boolean {
  return viewer.admin || scope === GLOBAL_SCOPE || scope === viewer.butler;
}

function foreignScope(viewer: Viewer, scope: string) {
  return forbidden(`scope "${scope}" is not yours; use "${GLOBAL_SCOPE}" or "${viewer.butler}".`, "scope");
}
