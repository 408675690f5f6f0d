/**
 * onnxruntime-node aborts the whole process (SIGABRT, exit code 134) when its thread is stopped inside a native call,
 * and `process.exit()` stops all threads. So the worker marks when it is inside such a call, and the exit waits until it has left.
 */
export type NativeGate = Int32Array<SharedArrayBuffer>;

const INSIDE = 0;
const SHUT = 1;
/** The longest native call, loading fp32 weights, takes below one second. */
const EXIT_WAIT_MS = 5_000;

/** Starts as "inside", because the first thing a worker does is to load the library. */
export function newGate(): NativeGate {
  const gate = new Int32Array(new SharedArrayBuffer(8));
  Atomics.store(gate, INSIDE, 1);
  return gate;
}

/** Without a gate, in a process of its own, there is nothing to mark. */
export function leave(gate: NativeGate | undefined): void {
  if (gate === undefined) return;
  Atomics.store(gate, INSIDE, 0);
  Atomics.notify(gate, INSIDE);
}

/** Worker side. Once the gate is shut the process is ending, and this never returns. */
export async function inside<T>(gate: NativeGate | undefined, work: () => Promise<T>): Promise<T> {
  if (gate === undefined) return work();
  Atomics.store(gate, INSIDE, 1);
  if (Atomics.load(gate, SHUT) === 1) {
    leave(gate);
    return new Promise(() => undefined);
  }
  try {
    return await work();
  } finally {
    leave(gate);
  }
}

/** Owner side, while the worker lives. Returns the function that lifts the guard. */
export function guardExit(gate: NativeGate): () => void {
  const wait = () => {
    Atomics.store(gate, SHUT, 1);
    Atomics.wait(gate, INSIDE, 1, EXIT_WAIT_MS);
  };
  process.on("exit", wait);
  return () => process.off("exit", wait);
}
