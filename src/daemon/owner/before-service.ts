/** What is refused before a shared Memory Butler is asked. */
import type { Principal } from "../../doors/backend.ts";
import { EVERY_SCOPE } from "../../engine/domain/scope.ts";
import { toolNamed } from "../../engine/tools/index.ts";
import type { Outcome, ToolRequest } from "../../engine/tools/outcome.ts";
import { viewNamed } from "../../engine/views/index.ts";
import type { ButlerConfig } from "../config/config.ts";
import { refusal } from "./owner-state.ts";

/**
 * The service sees one token for all who call through this owner, with that token's tenant and rights. A caller of another tenant,
 * or with fewer rights, would get those of the token, and is refused here.
 */
export function refusedBeforeService(
  config: ButlerConfig,
  principal: Principal,
  { tool, input, tenant: asked }: ToolRequest,
  url: string,
): Outcome | undefined {
  const { name, tenant } = config;
  if (viewNamed(tool) !== undefined)
    return refusal("unavailable", `"${name}" keeps its memory at ${new URL(url).origin}; its pages are there.`);
  if (principal.readOnly === true && toolNamed(tool)?.effect !== "read")
    return refusal("forbidden", "You may look but not change anything; sign in as an admin for that.", "role");
  if (principal.tenant !== tenant || (asked !== undefined && asked !== tenant))
    return refusal(
      "forbidden",
      `The memory of "${name}" is kept by a service for another tenant than this token's.`,
      "tenant",
    );
  if (principal.scopes !== undefined)
    return refusal(
      "forbidden",
      `The memory of "${name}" is kept by a service, which does not know this token's scopes.`,
      "scope",
    );
  const scope = typeof input === "object" && input !== null && "scope" in input ? input.scope : undefined;
  if (scope === EVERY_SCOPE && !principal.admin)
    return refusal("forbidden", 'scope "*" needs an admin token; leave scope out to read your own.', "scope");
  return undefined;
}
