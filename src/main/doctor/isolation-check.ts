/** Whether one tenant is kept from another by the server itself, and not by our statements alone. */
import type { ButlerConfig } from "../../daemon/config/config.ts";
import { openPostgres } from "../../engine/adapters/db/postgres.ts";
import { hasDatabase } from "../../engine/adapters/db/postgres-admin.ts";
import { reasonOf } from "../../engine/domain/errors.ts";
import { weaknesses } from "../../engine/store/access/advice.ts";
import { readAccess } from "../../engine/store/access/roles.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** Nothing when there is no database yet, or the butler keeps no memory here. */
export async function checkIsolation(url: string, butler: ButlerConfig): Promise<Finding[]> {
  if (!butler.memory.enabled || butler.memory.service !== undefined) return [];
  const check = `tenants ${butler.name}`;
  try {
    if (!(await hasDatabase(url, butler.name))) return [];
    const db = await openPostgres({ url, database: `butler_${butler.name}`, max: 1 });
    try {
      const access = await readAccess(db);
      if (!access.policed) return [warn(check, "no row security yet", "The next start of the memory brings it.")];
      const weak = await weaknesses(db, access);
      if (weak.length === 0) return [ok(check, `row security binds; calls run as "${access.roles.tenant}"`)];
      return weak.map(({ found, remedy }) => warn(check, found, remedy));
    } finally {
      await db.close();
    }
  } catch (error) {
    return [fail(check, reasonOf(error), "The sentence says what to do; nothing was changed.")];
  }
}
