/** The page about a week with the real Claude Code, for a person to read. Pure: the same records give the same page. */
import { type JudgedLine, judge } from "../../src/lab/everyday/week/judge.ts";
import type { Week, Worth } from "../../src/lab/everyday/week/script.ts";
import { factLines, hintLines, replacedLines, ruleLines } from "./page-known.ts";
import { cell, dayName, isTrueAt, percent, quoted, table } from "./page-words.ts";
import type { KnownMemory, SessionRecord, WeekRecords } from "./records.ts";

type Mark = "needed" | JudgedLine["verdict"];

interface MarkedLine {
  readonly line: string;
  readonly mark: Mark;
}

interface MarkedSession extends SessionRecord {
  /** By prompt. */
  readonly marked: readonly (readonly MarkedLine[])[];
  readonly needed: readonly { readonly worth: Worth; readonly told: boolean }[];
}

export function weekPage(week: Week, { agent, sessions, known }: WeekRecords): string {
  const friday = sessions.at(-1)?.at.slice(0, 10) ?? "";
  const ofFriday = sessions.filter(({ at }) => at.startsWith(friday)).map((session) => marked(week, session));
  const after = sessions.length + 1;
  const parts = [
    ...intro(agent, sessions, friday),
    ...glance(ofFriday, known, week, after),
    "## What it knew on Friday evening",
    "",
    "“worth” says whether the marks of the week's file call it worth knowing: **yes**, *no*, or **outdated** where all that it says has stopped being true.",
    "",
    ...factLines(week, known, after),
    ...ruleLines(week, known, after),
    ...replacedLines(known),
    ...hintLines(known),
    ...worthLines(week, known, ofFriday, after),
    "## Friday's prompts",
    "",
    "What the request to the model carried of the memory, line by line as it stood there, at the start of a session and with each prompt.",
    "**needed**: the work of this session needs it. *useful*: worth knowing, though not for this work. *no use*: says nothing that is worth knowing, or says it again. **harmful**: not true any more.",
    "",
    ...ofFriday.flatMap(sessionLines),
  ];
  return `${parts.join("\n").trimEnd()}\n`;
}

function intro(agent: string, sessions: readonly SessionRecord[], friday: string): string[] {
  const prompts = sessions.reduce((sum, session) => sum + session.prompts.length, 0);
  const [first = ""] = sessions.map(({ at }) => at.slice(0, 10));
  return [
    "# A week with memory",
    "",
    `A developer works in one repository from ${dayName(first)} to ${dayName(friday)}: ${sessions.length} sessions, ${prompts} prompts, written down in [week/coding.txt](week/coding.txt) with what is worth knowing of them.`,
    `Each prompt went to the real Claude Code (${agent}) in an empty home, after \`butler install claude-code\`. Its model was one on loopback that gives the answers and calls the tools of the script; there was no language model anywhere, nor in the memory.`,
    "What Claude Code was told stands here as it stood in its requests. `bench/real-week.ts` makes this page.",
    "",
  ];
}

/** The lines of a session are judged in the order in which they were told: what is said twice is of use once. */
function marked(week: Week, session: SessionRecord): MarkedSession {
  const needed = (week.needed.get(session.session) ?? []).map((worth) => ({ worth, told: false }));
  const text = session.prompts.flatMap(({ told }) => told).join("\n");
  const judged = judge(week, { session: session.session, at: session.at, text, tokens: 0 }).lines;
  const lines = judged.map(({ line, verdict }): MarkedLine => {
    const met = needed.filter((one) => !one.told && one.worth.matches.test(line));
    if (verdict !== "useful" || met.length === 0) return { line, mark: verdict };
    for (const one of met) one.told = true;
    return { line, mark: "needed" };
  });
  const byPrompt = session.prompts.map(({ told }) => lines.splice(0, told.length));
  return { ...session, marked: byPrompt, needed };
}

function glance(friday: readonly MarkedSession[], known: readonly KnownMemory[], week: Week, after: number): string[] {
  const lines = friday.flatMap((session) => session.marked.flat());
  const count = (mark: Mark) => lines.filter((line) => line.mark === mark).length;
  const needed = friday.flatMap((session) => session.needed);
  const live = known.filter(({ state, hint }) => state === "active" && !hint);
  const worth = live.filter(({ text }) => week.worth.some((one) => isTrueAt(one, after) && one.matches.test(text)));
  const share = (part: number) => `${part} (${percent(part, lines.length)})`;
  return [
    ...table(["on Friday", ""]),
    `| facts and rules that it knew | ${live.length}, of which ${worth.length} (${percent(worth.length, live.length)}) are worth knowing |`,
    `| lines told in ${friday.length} sessions with ${friday.reduce((sum, { prompts }) => sum + prompts.length, 0)} prompts | ${lines.length} |`,
    `| needed for the work of their session | ${share(count("needed"))} |`,
    `| useful otherwise | ${share(count("useful"))} |`,
    `| of no use | ${share(count("useless"))} |`,
    `| harmful | ${share(count("harmful"))} |`,
    `| of what the work needed, told | ${needed.filter(({ told }) => told).length} of ${needed.length} |`,
    "",
  ];
}

/** What the week's file calls worth knowing, and where it was on Friday. */
function worthLines(week: Week, known: readonly KnownMemory[], friday: readonly MarkedSession[], after: number) {
  const told = friday.flatMap(({ prompts }) => prompts.flatMap((prompt) => prompt.told));
  const live = known.filter(({ state, hint }) => state === "active" && !hint);
  const yes = (is: boolean) => (is ? "yes" : "**no**");
  const rows = week.worth
    .filter((one) => isTrueAt(one, after))
    .map(({ what, matches, from }) => {
      const said = week.sessions[from - 1]?.at.toISOString().slice(0, 10) ?? "";
      const isKnown = live.some(({ text }) => matches.test(text));
      const isTold = told.some((line) => matches.test(line));
      // After the last session nobody could be told.
      const shown = from === week.sessions.length ? "" : yes(isTold);
      return `| ${cell(what)} | ${dayName(said)} | ${yes(isKnown)} | ${shown} |`;
    });
  return [
    "### What there was to know",
    "",
    "Everything that the week's file calls worth knowing and that was still true on Friday evening; much of it the agent said or did, not the person. What is no fact and no rule may be told out of the exchange itself.",
    "",
    ...table(["what", "since", "a fact or a rule", "told on Friday"]),
    ...rows,
    "",
  ];
}

const WORDS: Readonly<Record<Mark, string>> = {
  needed: "**needed**",
  useful: "*useful*",
  useless: "no use",
  harmful: "**harmful**",
};

function sessionLines({ session, at, prompts, marked: byPrompt, needed }: MarkedSession): string[] {
  const missed = needed.filter(({ told }) => !told).map(({ worth }) => worth.what);
  return [
    `### ${at.slice(11, 16)}, session ${session}`,
    "",
    ...prompts.flatMap(({ prompt }, nth) => promptLines(prompt, byPrompt[nth] ?? [])),
    needed.length === 0
      ? "This session needs nothing of the days before."
      : missed.length === 0
        ? "All that its work needs was told."
        : `Its work needs also, and was not told: ${missed.join("; ")}.`,
    "",
  ];
}

function promptLines(prompt: string, lines: readonly MarkedLine[]): string[] {
  const asked = `> ${quoted(prompt, 200)}`;
  if (lines.length === 0) return [asked, "", "Nothing was added.", ""];
  return [
    asked,
    "",
    ...table(["mark", "what was told"]),
    ...lines.map(({ line, mark }) => `| ${WORDS[mark]} | ${cell(line.slice(2))} |`),
    "",
  ];
}
