/** The entry of the loud tenant's process: floods from "begin" to "end", and tells what came of it. */
import { picker, queryText } from "../sentences.ts";
import { type Flooded, flood, ownConnections } from "./flood.ts";
import type { LoudOptions } from "./loud-tenant.ts";

const { perSecond, ...caller } = JSON.parse(process.argv[2] ?? "{}") as LoudOptions;
const p = picker(12);
const agent = ownConnections();
let end: () => Promise<Flooded> = async () => ({ sent: 0, answers: {} });

process.on("message", (what) => {
  if (what === "begin") end = flood({ ...caller, agent }, perSecond, () => ({ query: queryText(p), limit: 10 }));
  else void end().then((counted) => process.send?.(counted));
});
process.send?.("ready");
