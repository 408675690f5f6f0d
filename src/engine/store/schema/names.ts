/** The migrations by name, apart from what they do: knowing that a store is current must not load the migrator (0.15 s). */
import { unavailable } from "../../domain/errors.ts";

export const MIGRATION_NAMES = [
  "mem_0001_foundation",
  "mem_0002_lifecycle",
  "mem_0003_retrieval",
  "mem_0004_consolidation",
  "mem_0005_lineage",
  "mem_0006_waiting_facts",
  "mem_0007_life",
  "mem_0008_waiting_runs",
  "mem_0009_judgements",
  "mem_0010_pages",
  "mem_0011_large_pages",
  "mem_0012_row_security",
  "mem_0013_erasure",
  "mem_0014_quarantine",
  "mem_0015_retention",
  "mem_0016_keys",
  "mem_0017_tenant_keys",
  "mem_0018_long_lists",
  "mem_0019_changed_memories",
  "mem_0020_session_order",
  "mem_0021_room_beside_vectors",
] as const;
export type MigrationName = (typeof MIGRATION_NAMES)[number];

export const MIGRATION_TABLES = {
  migrationTableName: "mem_migrations",
  migrationLockTableName: "mem_migrations_lock",
} as const;

export const newerStore = (cause?: unknown) =>
  unavailable(
    "this store was made by a newer butler-memory: upgrade butler-memory, or use another BUTLER_HOME.",
    cause,
  );
