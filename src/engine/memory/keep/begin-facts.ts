/** Writes down that waiting facts have begun. Readers see them from that moment on in any case. */
import { dueKeys } from "../../store/memories/facts.ts";
import { holdersOf } from "../remember/fact-key.ts";
import { write } from "../write.ts";
import type { JobContext, JobName } from "./job.ts";
import { type JobTally, jobCall } from "./job-call.ts";

const KEYS = 200;

/** One key a transaction. False when it was interrupted. */
export async function beginFacts(context: JobContext, job: JobName, tally: JobTally): Promise<boolean> {
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
