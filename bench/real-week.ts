/**
 * A scripted week of one developer with the real Claude Code, whose model is one of ours on loopback: what the memory knew on Friday, and
 * what of it the real requests of Friday's prompts carried. Writes bench/WEEK.md.
 *
 *   BUTLER_TEST_AGENTS=install npx tsx bench/real-week.ts [--program <butler.js>] [--page <file>] [--records <file>]
 *
 * With `--records` what was lived through is kept in that file, and the page is made of it when the file is there already. Two weeks give the
 * same page but for the last lines of an opening: short ids are other ones in each store, and take more or fewer tokens of its budget.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { readWeek } from "../src/lab/everyday/week/script.ts";
import { agentsFolder, HANDLING } from "../test/support/real-agents.ts";
import { butler, closeDesk, openDesk } from "./real-week/desk.ts";
import { askKnown } from "./real-week/known.ts";
import { liveRealWeek } from "./real-week/live.ts";
import { weekPage } from "./real-week/page.ts";
import type { WeekRecords } from "./real-week/records.ts";

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const { values } = parseArgs({
  options: {
    program: { type: "string", default: here("../dist/main/butler.js") },
    page: { type: "string", default: here("WEEK.md") },
    records: { type: "string" },
  },
});
const week = readWeek(readFileSync(here("week/coding.txt"), "utf8"));

async function live(): Promise<WeekRecords> {
  const desk = await openDesk(await agentsFolder(process.env.BUTLER_TEST_AGENTS ?? "install"), values.program);
  try {
    await butler(desk, ["install", "claude-code"], week.sessions[0]?.at);
    const say = (line: string) => process.stderr.write(`${line}\n`);
    const { lived, evening } = await liveRealWeek(desk, week, say);
    return { agent: HANDLING["claude-code"].comesIn, sessions: lived, known: await askKnown(desk, evening) };
  } finally {
    await closeDesk(desk);
  }
}

const kept = values.records;
const records =
  kept !== undefined && existsSync(kept) ? (JSON.parse(readFileSync(kept, "utf8")) as WeekRecords) : await live();
if (kept !== undefined) writeFileSync(kept, JSON.stringify(records, null, 1));
writeFileSync(values.page, weekPage(week, records));
