/** A tenant that floods, in a process of its own: what its calls cost itself is not to delay the caller whose waiting is measured. */
import { once } from "node:events";
import { startProcess } from "../../engine/adapters/threads/worker.ts";
import type { Caller, Flooded } from "./flood.ts";

export interface LoudOptions extends Omit<Caller, "agent"> {
  readonly perSecond: number;
}

export interface LoudTenant {
  begin(): void;
  end(): Promise<Flooded>;
  close(): void;
}

export async function loudTenant(options: LoudOptions): Promise<LoudTenant> {
  const child = startProcess(import.meta.url, "loud-process", options);
  await once(child, "message");
  return {
    begin: () => void child.send("begin"),
    async end() {
      child.send("end");
      const [counted] = (await once(child, "message")) as [Flooded];
      return counted;
    },
    close: () => void child.kill(),
  };
}
