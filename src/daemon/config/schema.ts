/** The schema of a `butler.toml`, with its defaults. */
import { z } from "zod";
import { isTenantName } from "../../engine/domain/tenant.ts";
import { JOB_NAMES, type JobName } from "../../engine/memory/keep/job.ts";
import { Settings } from "../../engine/memory/settings.ts";
import { cronFault } from "../schedule/cron.ts";

export const BUTLER_NAME = /^(?!global$)[a-z][a-z0-9_-]{0,31}$/;

/** What `butler run` fills into the arguments of an agent's command. */
const PLACEHOLDERS = ["prompt", "system", "mcp_config", "session"] as const;

const CRON_FIELDS = /^\s*\S+(\s+\S+){4,5}\s*$/;

const Planned = z.strictObject({
  cron: z.string().superRefine((line, context) => {
    const expected = 'a cron line of five fields, such as "0 3 * * *"';
    const fault = CRON_FIELDS.test(line) ? cronFault(line) : undefined;
    if (fault !== undefined) context.addIssue(`${expected} (${fault})`);
    else if (!CRON_FIELDS.test(line)) context.addIssue(expected);
  }),
  prompt: z.string().min(1).optional(),
  enabled: z.boolean().default(true),
});

const Schedule = z.strictObject(
  Object.fromEntries(JOB_NAMES.map((job) => [job, Planned.optional()])) as Record<
    JobName,
    z.ZodOptional<typeof Planned>
  >,
);

/** Only `{word}` is taken for a placeholder, so that an argument may be JSON. */
const Argument = z.string().superRefine((argument, context) => {
  const known = PLACEHOLDERS.map((name) => `{${name}}`);
  for (const [found] of argument.matchAll(/\{[A-Za-z_]\w*\}/g))
    if (!known.includes(found)) context.addIssue({ code: "custom", params: { placeholder: found, known } });
});

const Runtime = z.strictObject({
  command: z.string().min(1).default("claude"),
  args: z.array(Argument).default([]),
  timeout_seconds: z.number().int().positive().max(86_400).default(1_800),
  env: z.record(z.string().regex(/^[A-Za-z_]\w*$/, "the name of an environment variable"), z.string()).default({}),
});

export const DEFAULT_TENANT = "default";

export const ButlerTable = z.strictObject({
  name: z.string().regex(BUTLER_NAME, "a small letter, then at most 31 small letters, digits, _ or -"),
  role: z.enum(["butler", "memory"]).default("butler"),
  tenant: z
    .string()
    .min(1, { abort: true })
    .max(64, { abort: true })
    .refine((name) => name !== "*", "must name one tenant")
    .refine(isTenantName, "a tenant's name in composed characters, all of which can be seen")
    .default(DEFAULT_TENANT),
  description: z.string().max(500).default(""),
  schedule: Schedule.prefault({}),
  runtime: Runtime.prefault({}),
});

/** Memory is opt-in: without the table `[modules.memory]` it is off, and the table alone switches it on. */
export const ButlerToml = z.strictObject({
  butler: ButlerTable,
  modules: z.strictObject({ memory: Settings.prefault({ enabled: false }) }).prefault({}),
});
