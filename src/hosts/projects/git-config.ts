/** Reads the text of a git configuration file. Includes are not followed: the remotes of a repository are in its own file. */

export interface GitSetting {
  /** In lower case. */
  readonly section: string;
  /** The quoted part of a section's header, as written; "" without one. */
  readonly subsection: string;
  /** In lower case. */
  readonly name: string;
  readonly value: string;
}

const HEAD = /^\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/;
const NAME = /^([A-Za-z][A-Za-z0-9-]*)\s*(=?)\s*/;
const ESCAPED: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b" };

/** Lines that are not valid are left out, and the rest is read. */
export function readGitConfig(text: string): GitSetting[] {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  const settings: GitSetting[] = [];
  let section = "";
  let subsection = "";
  for (let at = 0; at < lines.length; at++) {
    let rest = (lines[at] ?? "").trimStart();
    const head = HEAD.exec(rest);
    if (head) {
      [section, subsection] = sectionOf(head[1] ?? "", head[2]);
      rest = rest.slice(head[0].length).trimStart();
    }
    const named = NAME.exec(rest);
    if (!named) continue;
    const name = (named[1] ?? "").toLowerCase();
    if (named[2] === "") {
      settings.push({ section, subsection, name, value: "true" });
      continue;
    }
    const read = valueFrom(rest.slice(named[0].length), lines, at);
    at = read.at;
    settings.push({ section, subsection, name, value: read.value });
  }
  return settings;
}

function sectionOf(name: string, quoted: string | undefined): [string, string] {
  if (quoted !== undefined) return [name.toLowerCase(), quoted.replace(/\\(.)/g, "$1")];
  // `[branch.main]`, the old form of a subsection, is not case-sensitive.
  const [section = "", ...rest] = name.toLowerCase().split(".");
  return [section, rest.join(".")];
}

/** Reads quotes, escapes, comments and lines that are continued with a backslash. */
function valueFrom(first: string, lines: readonly string[], start: number): { value: string; at: number } {
  let line = first;
  let at = start;
  let value = "";
  // Blanks are part of the value only when something follows them, or inside quotes.
  let blanks = "";
  let quoted = false;
  for (let place = 0; ; place++) {
    const sign = line[place];
    if (sign === undefined) return { value, at };
    if (sign === "\\" && place === line.length - 1) {
      at += 1;
      line = lines[at] ?? "";
      place = -1;
      continue;
    }
    if (!quoted && (sign === "#" || sign === ";")) return { value, at };
    if (!quoted && /\s/.test(sign)) {
      blanks += sign;
      continue;
    }
    value += value === "" && !quoted ? "" : blanks;
    blanks = "";
    if (sign === '"') quoted = !quoted;
    else if (sign === "\\") {
      place += 1;
      const escaped = line[place] ?? "";
      value += ESCAPED[escaped] ?? escaped;
    } else value += sign;
  }
}
