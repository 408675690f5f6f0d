/** Reads `daemon.toml` of a home. Without the file every setting has its default; a faulty one stops the start, all faults at once. */
import { parse } from "smol-toml";
import type { z } from "zod";
import { type Home, readIfThere } from "../home.ts";
import { configError } from "./config.ts";
import { type DaemonSettings, DaemonToml } from "./daemon-schema.ts";
import { type Fault, faultAt, schemaFaults, syntaxFault, type Written } from "./faults.ts";
import { linesOf } from "./lines.ts";

export function readDaemonSettings(home: Pick<Home, "daemonFile">): DaemonSettings {
  const checked = checkDaemonToml(readIfThere(home.daemonFile) ?? "", home.daemonFile);
  if (checked.ok) return checked.settings;
  throw configError(checked.faults);
}

export type CheckedDaemon =
  | { readonly ok: true; readonly settings: DaemonSettings }
  | { readonly ok: false; readonly faults: readonly Fault[] };

export function checkDaemonToml(text: string, file: string): CheckedDaemon {
  let written: Written;
  try {
    written = { file, document: parse(text), lines: linesOf(text) };
  } catch (error) {
    return { ok: false, faults: [syntaxFault(error, file)] };
  }
  const checked = DaemonToml.safeParse(written.document);
  if (checked.success) return { ok: true, settings: checked.data };
  return { ok: false, faults: checked.error.issues.flatMap((issue) => faultsOf(issue, written)) };
}

/** Which keys there are is known of a `butler.toml` alone. */
function faultsOf(issue: z.core.$ZodIssue, written: Written): Fault[] {
  const path = issue.path.map(String);
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => faultAt(written, [...path, key], "found a key that is not known here."));
  return schemaFaults(issue, written);
}
