/** Fakes for the owner's own logic: a store that counts, a model that arrives when told. */

import { parseButlerToml } from "../../src/daemon/config/config.ts";
import { createOwner, type OwnerParts } from "../../src/daemon/owner/owner.ts";
import { type ModelOnDisk, sharedModel } from "../../src/daemon/owner/shared-model.ts";
import type { Principal } from "../../src/doors/host.ts";
import type { Embedder } from "../../src/engine/adapters/embedder/port.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";
import type { Outcome } from "../../src/engine/tools/outcome.ts";

export const everyone: Principal = { name: "local", tenant: "default", butler: "*", admin: true, voice: "user" };

/** With a memory, unless `more` says how it wants it. */
export function butler(name: string, more = "") {
  const memory = more.includes("[modules.memory]") ? "" : "\n[modules.memory]\n";
  return parseButlerToml(`[butler]\nname = "${name}"\n${more}${memory}`, `${name}/butler.toml`);
}

export interface FakeMemory {
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

/** An owner over stores that only count how often they were opened, closed and maintained. */
export function fakeOwner(options: Partial<OwnerParts<FakeMemory>> = {}) {
  const seen = { opened: 0, closed: 0, maintained: 0 };
  const model = noModel();
  const owner = createOwner<FakeMemory>({
    version: "1.0.0",
    roster: [butler("general")],
    log: silentLog,
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
    model: () => model,
    ...options,
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
