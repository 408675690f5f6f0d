/** The same memory with another view of its store. */
import type { Db } from "../adapters/db/port.ts";
import { asOwnerOf, asTenant, type OwnerWork } from "../store/access/access.ts";
import type { Memory } from "./memory.ts";
import { unsealing } from "./sealing.ts";

/** For a tenant's call: no statement sees or changes rows of another tenant, whatever it asks for; what is encrypted is decrypted. */
export const memoryOf = (memory: Memory, tenant: string): Memory =>
  withDb(memory, unsealing(asTenant(memory.db, memory.roles, tenant), memory, tenant));

/** For a call that only reads: replicas may answer, if there are any. */
export const readingOf = (memory: Memory): Memory =>
  memory.db.reading === undefined ? memory : withDb(memory, memory.db.reading());

/** For a job over all tenants. What it does for one of them it does in a call of that tenant: `jobCall`. */
export const wholeMemory = (memory: Memory, work: OwnerWork): Memory => withDb(memory, asOwner(memory, work));

/** The whole store, for work that cannot be done tenant by tenant. */
export const asOwner = ({ db, roles }: Memory, work: OwnerWork): Db => asOwnerOf(db, roles, work);

/** Everything else is looked up in the memory at each use: its embedding model may be loaded or replaced later. */
const withDb = (memory: Memory, db: Db): Memory => Object.create(memory, { db: { value: db, enumerable: true } });
