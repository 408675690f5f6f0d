/**
 * Each project of a run loads the set-up files anew, in one process: what is dear (a server, the build) is started by the first
 * project that needs it, and ends with the last.
 */
const shared = globalThis as { butlerTests?: Map<string, { users: number; value: unknown }> };
shared.butlerTests ??= new Map();
const started = shared.butlerTests;

export async function once<T>(
  name: string,
  start: () => T | Promise<T>,
  stop?: (value: T) => Promise<void>,
): Promise<{ value: T; release(): Promise<void> }> {
  const entry = started.get(name) ?? { users: 0, value: start() };
  started.set(name, entry);
  entry.users += 1;
  const value = (await entry.value) as T;
  return {
    value,
    release: async () => {
      entry.users -= 1;
      if (entry.users === 0) await stop?.(value);
    },
  };
}
