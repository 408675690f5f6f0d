/** What keeps an owner's process small and quick to start: settings of V8 that hold for the whole process. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * To be called before the first store is opened. The code of the embedded store is 9 MB of WebAssembly, of which a memory uses a small
 * part. It is a file of our own package: its functions are checked when they are compiled, not all of them before the first runs. And
 * only what runs for long is compiled a second time, with optimisations: by default that took a third of the CPU time to the first answer.
 */
export function tuneProcess(): void {
  setFlagsFromString("--wasm-lazy-validation");
  setFlagsFromString("--wasm-tiering-budget=100000000");
  // Makes `gc` available in contexts that are created from now on.
  setFlagsFromString("--expose-gc");
}

/** Node collects garbage when it needs room. An owner at rest needs none, and would keep what it no longer uses for hours. */
export function collectGarbage(): void {
  const collect: unknown = runInNewContext("globalThis.gc");
  if (typeof collect === "function") collect();
}
