/** Facts whose day has come take their place. Readers see them from that moment on; here it is written down. */
import { dueKeys } from "../../store/memories/facts.ts";
import type { JobContext, JobName } from "../keep/job.ts";
import { jobCall, type Tallying } from "../keep/job-call.ts";
import { write } from "../write.ts";
import { holdersOf } from "./fact-key.ts";

const KEYS = 200;

/** One key a transaction. False when it was interrupted. */
export async function beginFacts(context: JobContext, job: JobName, tally: Tallying): Promise<boolean> {
  const { memory, now, dryRun } = context;
  for (;;) {
    const due = await dueKeys(memory.db, now, KEYS);
    for (const key of due) {
      if (context.interrupted()) return false;
      const call = jobCall(context, job, key.tenant_id);
      if (!dryRun)
        await write(call, job, {}, async (writing) => {
          await holdersOf(call, writing, key);
          return {};
        });
      tally.count("facts_began");
      tally.note(`${key.subject} ${key.predicate} (${key.scope}): a fact that waited for its day has its place`);
    }
    // A dry run changes nothing, so that the same keys would come again.
    if (due.length < KEYS || dryRun) return true;
  }
}
