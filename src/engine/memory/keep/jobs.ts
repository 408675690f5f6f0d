/** All jobs. The scheduler runs these, and nothing else. */
import { consolidate } from "../learn/consolidate.ts";
import { retention } from "../retention/retention.ts";
import { decaySweep } from "./decay-sweep.ts";
import { episodeCleanup } from "./episode-cleanup.ts";
import { hygiene } from "./hygiene.ts";
import type { Job } from "./job.ts";
import { partitions } from "./partitions.ts";
import { promote } from "./promote.ts";
import { reembed } from "./reembed.ts";
import { rekey } from "./rekey.ts";

export const jobs: readonly Job[] = [
  consolidate,
  promote,
  decaySweep,
  episodeCleanup,
  reembed,
  hygiene,
  retention,
  rekey,
  partitions,
];

export const jobNamed = (name: string): Job | undefined => jobs.find((job) => job.name === name);
