/** What keeps an owner's process small and quick to start: settings of V8 that hold for the whole process. */
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * To be called before the first store is opened. The code of the embedded store is 9 MB of WebAssembly, of which a memory uses a small
 * part. It is a file of our own package: its functions are checked when they are compiled, not all of them before the first runs. And
 * only what runs for long is compiled a second time, with optimisations: by default that took a third of the CPU time to the first answer.
 */
export function tuneProcess(): void {
  setFlagsFromString("--wasm-lazy-validation");
  setFlagsFromString("--wasm-tiering-budget=100000000");
  // For the threads of stores and models, which start from now on: they have one question at a time, and 4 MB of room for new objects hold it.
  // As the main thread has it, that of a store took up to 32 MB, now more and now less of it.
  setFlagsFromString("--max-semi-space-size=4");
  // Makes `gc` available in contexts that are created from now on.
  setFlagsFromString("--expose-gc");
}

const MB = 1024 * 1024;
/** By so much the heap of a process in front of a server may grow before all of it is collected, within these shares of what it has. */
const ROOM_MB = 96;
const LEAST_PERCENT = 40;
const MOST_PERCENT = 300;
const LOOK_MS = 60_000;

export const growthFor = (heapMb: number): number =>
  Math.round(Math.min(MOST_PERCENT, Math.max(LEAST_PERCENT, (100 * ROOM_MB) / heapMb)));

/**
 * Of a process in front of a server little is alive, and a search of a million memories leaves some megabytes behind: half of the processes, by chance, then
 * collected everything at every second search (25 times in 75 searches, now 4 times; main thread at p95 31 to 44 ms of CPU, now 20 to 26).
 */
export function roomForSearches(): void {
  const look = () => {
    setFlagsFromString(`--heap-growing-percent=${growthFor(getHeapStatistics().used_heap_size / MB)}`);
  };
  look();
  setInterval(look, LOOK_MS).unref();
}

type Collect = (options?: { readonly type: "minor" }) => void;
let known: Collect | undefined;

/** Undefined where `tuneProcess` was not called. */
function collector(): Collect | undefined {
  known ??= runInNewContext("globalThis.gc") as Collect | undefined;
  return known;
}

/** Node collects garbage when it needs room. An owner at rest needs none, and would keep what it no longer uses for hours. */
export function collectGarbage(): void {
  collector()?.();
}

/** The answer is on its way by then. */
const AFTER_MS = 20;
let soon: NodeJS.Timeout | undefined;

/**
 * Collects what an answer has left behind while nobody waits. One prompt of five had met that on its way, for 3 ms and up to 5; p95 in the owner
 * was 19 ms and is 16.
 */
export function makeRoomSoon(): void {
  clearTimeout(soon);
  soon = setTimeout(() => collector()?.({ type: "minor" }), AFTER_MS).unref();
}
