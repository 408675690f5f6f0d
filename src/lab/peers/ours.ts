/** This program, through the same tools that agents call, embedded and on PostgreSQL. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../engine/adapters/clock.ts";
import { silentLog } from "../../engine/adapters/log.ts";
import { maintain } from "../../engine/memory/keep/maintain.ts";
import type { ToolAnswer } from "../../engine/tools/index.ts";
import { memoryOpener } from "../../main/wiring/engines.ts";
import { benchButler } from "../bench-home.ts";
import { answerOf } from "../build.ts";
import type { OpenPeer, Peer, PeerMemory, Place } from "./peer.ts";

const BATCH = 100;

const shared = { persists: true, embeds: "itself", packages: {} } as const;

export const ours: Peer = {
  ...shared,
  name: "Butler, embedded",
  what: "memory_search, hybrid, late interaction",
  needsServer: false,
  open: (place) => opened({ ...place, server: undefined }),
};

export const oursPostgres: Peer = {
  ...shared,
  name: "Butler, PostgreSQL",
  what: "the same on a server",
  needsServer: true,
  open: opened,
};

type Row = ToolAnswer<"memory_ingest_batch">["results"][number];

/** By the id of each memory that was stored: a row that was refused has none, and two rows with one id are one memory. */
export function noteKeys(keys: Map<string, string>, memories: readonly PeerMemory[], rows: readonly Row[]): void {
  for (const [index, row] of rows.entries()) if (row.ok) keys.set(row.id, memories[index]?.key ?? "");
}

async function opened({ folder, server, embedder }: Place): Promise<OpenPeer> {
  const stores = { folder: () => `${folder}/store`, databaseUrl: server?.url };
  const open = memoryOpener({ stores, clock: systemClock, log: silentLog });
  const memory = await open(benchButler(server?.database ?? "bench").config, embedder);
  // The benchmark's name of each memory, beside the store: the others keep it as a field of theirs.
  const names = join(folder, "keys.json");
  const kept = existsSync(names) ? (JSON.parse(readFileSync(names, "utf8")) as [string, string][]) : [];
  const keys = new Map<string, string>(kept);
  return {
    async store(memories: readonly PeerMemory[]) {
      const before = keys.size;
      for (let from = 0; from < memories.length; from += BATCH) {
        const some = memories.slice(from, from + BATCH);
        const episodes = some.map(({ text, session, speaker, time }) => ({
          content: text,
          ...(session === undefined ? {} : { session_id: session }),
          ...(speaker === undefined ? {} : { speaker }),
          ...(time === undefined ? {} : { occurred_at: time }),
        }));
        const { results } = await answerOf(memory, "memory_ingest_batch", { episodes });
        noteKeys(keys, some, results);
      }
      return keys.size - before;
    },
    async search(query, limit) {
      const { results } = await answerOf(memory, "memory_search", { query, limit });
      return results.map(({ id }) => keys.get(id) ?? "");
    },
    async settle() {
      writeFileSync(names, JSON.stringify([...keys]));
      await maintain(memory, { level: "full" });
    },
    ready: () => memory.readModel.load(memory.versions.serving?.version, "default"),
    rest: () => memory.afterwards.settled(),
    close: () => memory.close(),
  };
}
