/** Fakes for the owner's own logic: a store that counts, a model that arrives when told. */

import { parseButlerToml } from "../../src/daemon/config/config.ts";
import { createOwner } from "../../src/daemon/owner/owner.ts";
import type { OwnerJobs, OwnerParts } from "../../src/daemon/owner/owner-state.ts";
import { type ModelOnDisk, sharedModel } from "../../src/daemon/owner/shared-model.ts";
import type { Principal } from "../../src/doors/backend.ts";
import type { Embedder } from "../../src/engine/adapters/embedder/port.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { MaintainOptions } from "../../src/engine/memory/keep/maintain.ts";
import type { JobRunner } from "../../src/engine/memory/keep/run-job.ts";
import type { ReplayProgress, ReplayReport } from "../../src/engine/memory/past/replay.ts";
import type { Outcome, ToolRequest } from "../../src/engine/tools/outcome.ts";
import { typedCall } from "../../src/engine/tools/typed-call.ts";

export const everyone: Principal = { name: "local", tenant: "default", butler: "*", admin: true, voice: "user" };

/** With a memory, unless `more` says how it wants it. */
export function butler(name: string, more = "") {
  const memory = more.includes("[modules.memory]") ? "" : "\n[modules.memory]\n";
  return parseButlerToml(`[butler]\nname = "${name}"\n${more}${memory}`, `${name}/butler.toml`);
}

interface FakeMemory {
  readonly number: number;
  embedder: Embedder | undefined;
  close(): Promise<void>;
}

export const fakeEmbedder = (closed: () => void = () => undefined): Embedder => ({
  version: { model: "fake", variant: "int8", dimensions: 1, sha256: "0" },
  embed: async () => ({
    vector: new Float32Array([1]),
    tokens: { pieces: 0, bits: new Uint8Array(0), words: [], ranks: [] },
  }),
  close: async () => closed(),
});

export const fakeModel = (load: () => Promise<Embedder>): ModelOnDisk => ({ version: fakeEmbedder().version, load });

export const noModel = () => sharedModel({ locate: async () => undefined, log: silentLog });

/** What a fake engine does, said of the memory behind it. */
interface FakeEngineParts {
  open(butler: Parameters<OwnerParts["open"]>[0], embedder: Embedder | undefined): Promise<FakeMemory>;
  call(memory: FakeMemory, by: Principal, request: ToolRequest): Promise<Outcome>;
  adopt(memory: FakeMemory, embedder: Embedder): Promise<void>;
  maintain(memory: FakeMemory, options: MaintainOptions): Promise<void>;
  writes(tool: string): boolean;
  probe(memory: FakeMemory): Promise<unknown>;
  verify(memory: FakeMemory, tell: ReplayProgress): Promise<ReplayReport>;
}

export interface FakeJobs extends OwnerJobs {
  readonly runner: JobRunner;
}

type FakeOptions = Partial<Omit<OwnerParts, "open" | "jobs"> & FakeEngineParts> & { readonly jobs?: FakeJobs };

const noJobs = () => Promise.reject(new Error("this fake has no jobs"));
const noRunner: JobRunner = {
  look: noJobs,
  enqueue: noJobs,
  drain: noJobs,
  runNow: noJobs,
  history: noJobs,
  latest: noJobs,
};

function fakeEngine(memory: FakeMemory, parts: FakeEngineParts, runner: JobRunner): Engine {
  return {
    call: (tool, input, { by, ...options }) =>
      typedCall((request) => parts.call(memory, by, request))(tool, input, options),
    writes: parts.writes,
    runJob: runner.runNow,
    runs: runner,
    maintain: (options) => parts.maintain(memory, options),
    verifyReplay: (tell) => parts.verify(memory, tell),
    tellRefused: async () => undefined,
    adopt: (embedder) => parts.adopt(memory, embedder),
    ping: async () => void (await parts.probe(memory)),
    sample: () => Promise.reject(new Error("this store has no numbers")),
    sizes: () => Promise.reject(new Error("this store has no numbers")),
    replicas: () => undefined,
    pool: () => undefined,
    isDead: () => false,
    close: () => memory.close(),
  };
}

/** An owner over stores that only count how often they were opened, closed and maintained. */
export function fakeOwner(options: FakeOptions = {}) {
  const seen = { opened: 0, closed: 0, maintained: 0 };
  const model = noModel();
  const { jobs, ...more } = options;
  const runner = jobs?.runner ?? noRunner;
  const engine: FakeEngineParts = {
    open: async (_, embedder) => {
      seen.opened += 1;
      return {
        number: seen.opened,
        embedder,
        close: async () => {
          seen.closed += 1;
        },
      };
    },
    call: async (memory): Promise<Outcome> => ({
      ok: true,
      answer: { number: memory.number, model: memory.embedder !== undefined },
    }),
    adopt: async (memory, embedder) => {
      memory.embedder = embedder;
    },
    maintain: async () => {
      seen.maintained += 1;
    },
    writes: () => true,
    probe: async () => undefined,
    verify: () => Promise.reject(new Error("this fake cannot replay")),
    ...more,
  };
  const owner = createOwner({
    version: "1.0.0",
    roster: [butler("general")],
    log: silentLog,
    model: () => model,
    ...more,
    open: async (config, embedder) => fakeEngine(await engine.open(config, embedder), engine, runner),
    ...(jobs === undefined ? {} : { jobs }),
  });
  return { owner, seen };
}

/** Something that somebody else will settle. */
export function gate() {
  let open: () => void = () => undefined;
  const passed = new Promise<void>((done) => {
    open = done;
  });
  return { open, passed };
}
