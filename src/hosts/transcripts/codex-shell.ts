/** Reads commands, patches and exit codes as Codex records them. */
import { type Json, jsonOf, listIn, objectIn, textIn } from "./lines.ts";
import { failureLine } from "./words.ts";

/** `["bash", "-lc", "npm test"]`, `"npm test"` or `{cmd: "npm test"}`. */
export function commandIn(input: Json): string {
  const raw = input.command ?? input.cmd;
  if (typeof raw === "string") return raw.trim();
  const words = listIn(raw).map(textIn);
  const script = /(?:^|[\\/])(?:ba|z|da|k)?sh(?:\.exe)?$|powershell|pwsh|cmd/i.test(words[0] ?? "")
    ? words.at(-1)
    : undefined;
  return (words.length > 1 && script !== undefined ? script : words.join(" ")).trim();
}

const FILE = /^\*\*\* (Add|Update|Delete) File: (.+)$/gm;
const VERBS: Readonly<Record<string, string>> = { Add: "wrote", Update: "edited", Delete: "deleted" };

export function patchedFiles(patch: string): { readonly verb: string; readonly path: string }[] {
  return [...patch.matchAll(FILE)].map((file) => ({
    verb: VERBS[file[1] ?? ""] ?? "edited",
    path: (file[2] ?? "").trim(),
  }));
}

export interface Exit {
  readonly failed: boolean;
  readonly refused: boolean;
  readonly why: string;
  readonly text: string;
}

/** Looked for before the output only, so that a program cannot print a false exit code. */
const CODE = /^(?:(?!Output:)[^\n]*\n){0,6}?(?:Exit code: |Process exited with code )(-?\d+)/;
const REFUSED = /^(?:exec command |patch |command )?(?:rejected|aborted|denied) by (?:the )?user/i;

export function exitOf(output: unknown): Exit {
  const told = objectIn(output);
  const raw =
    typeof output === "string"
      ? output
      : textIn(told.content) ||
        listIn(output)
          .map((block) => textIn(objectIn(block).text))
          .join("\n");
  const inside = jsonOf(raw);
  const code = objectIn(inside?.metadata).exit_code ?? CODE.exec(raw)?.[1];
  const text = inside !== undefined && typeof inside.output === "string" ? inside.output : raw;
  const failed =
    told.success === false ||
    (code !== undefined && Number(code) !== 0) ||
    /^(?:err: |apply_patch verification failed)/.test(raw);
  return {
    failed,
    refused: REFUSED.test(raw.trimStart()),
    why: failureLine(text.replace(/^[\s\S]{0,400}?\nOutput:\n/, "")),
    text: raw,
  };
}
