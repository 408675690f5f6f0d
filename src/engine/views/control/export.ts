import { z } from "zod";
import { notFound } from "../../domain/errors.ts";
import { memoriesAbout } from "../../memory/erase/about.ts";
import { exportMemories } from "../../store/erasure/export.ts";
import * as f from "../../tools/fields.ts";
import * as v from "../common.ts";
import { defineControl } from "../define.ts";

const time = z.string().nullable();

export const ExportedMemory = z.object({
  type: f.type,
  id: z.string(),
  scope: z.string(),
  state: z.string(),
  subject: z.string().nullable(),
  predicate: z.string().nullable(),
  content: z.string(),
  summary: z.string().nullable(),
  speaker: z.string().nullable(),
  session_id: z.string().nullable(),
  confidence: z.number().nullable(),
  trust: z.string(),
  source: z.string(),
  importance: z.number(),
  tags: z.array(z.string()),
  metadata: z.record(z.string(), z.unknown()),
  created_at: z.string(),
  valid_from: time,
  valid_to: time,
  forgotten_at: time,
  links: z.array(z.object({ relation: z.string(), from: z.string(), to: z.string() })),
  events: z.array(z.object({ event: z.string(), at: z.string(), by: z.string() })),
});

export const controlExport = defineControl({
  name: "control_export",
  title: "Everything that is known about a subject",
  input: f.input({ subject: f.text(500) }),
  output: f.output({ subject: z.string(), exported_at: z.string(), memories: z.array(ExportedMemory) }),
  effect: "read",
  async run(call, { subject }) {
    const { tenant, scopes } = v.seenBy(call);
    const { db } = call.memory;
    const found = await memoriesAbout(db, { tenant, scopes }, subject);
    const rows = await exportMemories(
      db,
      tenant,
      found.map(({ id }) => id),
    );
    if (rows.length === 0) throw notFound(`nothing is known about "${subject}".`);
    return {
      subject,
      exported_at: call.now.toISOString(),
      memories: rows.map((row) => ({
        ...row,
        ...{ tags: [...row.tags], links: [...row.links], events: [...row.events], metadata: { ...row.metadata } },
        created_at: row.created_at.toISOString(),
        ...{ valid_from: v.iso(row.valid_from), valid_to: v.iso(row.valid_to), forgotten_at: v.iso(row.forgotten_at) },
      })),
    };
  },
});
