/**
 * One memory as a library: opened on a store, called by the names of its tools, closed. The database, the models and the clock
 * are handed in; the engine knows nothing of processes, sockets and agents.
 */
import type { Db, PoolUse, ReplicaUse } from "./adapters/db/port.ts";
import type { Embedder } from "./adapters/embedder/port.ts";
import type { StoreSample, StoreSizes } from "./domain/health/measurements.ts";
import { type RefusedAccess, tellRefused } from "./memory/access.ts";
import type { Following } from "./memory/following.ts";
import { jobs } from "./memory/keep/jobs.ts";
import { type MaintainOptions, maintain } from "./memory/keep/maintain.ts";
import type { JobResult } from "./memory/keep/perform-run.ts";
import { type JobRuns, jobRunner, type RunNow } from "./memory/keep/run-job.ts";
import { type MemoryParts, openMemory } from "./memory/open.ts";
import { type ReplayProgress, type ReplayReport, verifyInScratch } from "./memory/past/replay.ts";
import { allCounted } from "./memory/recall/reference.ts";
import { asOwner } from "./memory/tenancy.ts";
import { readSample, readSizes } from "./store/health/sample.ts";
import { callTool, type Identity } from "./tools/call.ts";
import { type ToolInput, toolNamed } from "./tools/index.ts";
import { type AnyToolName, type OutcomeOf, type RequestOptions, typedCall } from "./tools/typed-call.ts";
import { viewNamed } from "./views/index.ts";

export interface EngineParts extends MemoryParts {
  /** Opens an empty store for a replay, which is closed after it. */
  scratch(): Promise<Db>;
}

export interface CallOptions extends RequestOptions {
  /** Who calls. Whoever uses the engine has checked it. */
  readonly by: Identity;
  readonly following?: Following | undefined;
}

export interface Engine {
  /** Calls a tool: its name decides which input it takes and which answer it gives. Never throws: what goes wrong is an outcome. */
  call<N extends AnyToolName>(tool: N, input: ToolInput<N>, options: CallOptions): Promise<OutcomeOf<N>>;
  /** Whether a tool changes memories: maintenance is due soon after such a call. */
  writes(tool: string): boolean;
  /** Runs a job for a person. `conflict` when it is under way already. */
  runJob(name: string, options: RunNow): Promise<JobResult>;
  /** The runs of this memory's jobs, for the scheduler. */
  readonly runs: JobRuns;
  maintain(options: MaintainOptions): Promise<void>;
  /** Rebuilds every row from the event stream in a scratch store and compares the two; changes nothing. */
  verifyReplay(tell: ReplayProgress): Promise<ReplayReport>;
  /** Writes down what callers of this memory were refused, in the streams of their tenants. */
  tellRefused(refused: readonly RefusedAccess[]): Promise<void>;
  /** Takes an embedding model that was loaded after the engine was opened. */
  adopt(embedder: Embedder): Promise<void>;
  /** Fails when the store does not answer. */
  ping(): Promise<void>;
  /** Numbers of the whole store that are cheap to read. */
  sample(): Promise<StoreSample>;
  /** Sizes and counts of the whole store, which take scans. */
  sizes(): Promise<StoreSizes>;
  /** How much of the pool of connections is used; undefined where there is none. */
  pool(): PoolUse | undefined;
  /** The replicas that are read from; undefined where none is named. */
  replicas(): readonly ReplicaUse[] | undefined;
  /** The store has stopped for good. */
  isDead(): boolean;
  /** Waits for the work that follows the last answers, then closes the store. The embedder is closed by whoever opened it. */
  close(): Promise<void>;
}

export async function openEngine({ scratch, ...parts }: EngineParts): Promise<Engine> {
  const memory = await openMemory(parts);
  const runs = jobRunner(memory, jobs);
  return {
    call: (tool, input, { by, following, ...options }) =>
      typedCall((request) => callTool(memory, by, request, following))(tool, input, options),
    writes: (tool) => (viewNamed(tool) ?? toolNamed(tool))?.effect !== "read",
    runJob: (name, options) => runs.runNow(name, options).finally(() => memory.db.wrote?.()),
    runs,
    maintain: (options) => maintain(memory, options),
    verifyReplay: async (tell) => {
      await allCounted(memory);
      return verifyInScratch(asOwner(memory, "replay"), scratch, tell);
    },
    tellRefused: (refused) => tellRefused(memory, refused),
    adopt: memory.adopt,
    ping: async () => void (await memory.db.query("select 1")),
    sample: () => readSample(asOwner(memory, "health"), memory.clock.now()),
    sizes: () => readSizes(asOwner(memory, "health"), memory.clock.now()),
    pool: () => memory.db.pool?.(),
    replicas: () => memory.db.replicas?.(),
    isDead: memory.isDead,
    close: memory.close,
  };
}
