/** `butler bench week`: what a session is told at its start, over a scripted week of sessions, and how much of it is of use. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { homeAt } from "../../../daemon/home.ts";
import { openOnnxEmbedder } from "../../../engine/adapters/embedder/onnx.ts";
import { silentLog } from "../../../engine/adapters/log.ts";
import { locateModel } from "../../../engine/adapters/model/files.ts";
import type { Context } from "../../../main/program/command.ts";
import { memoryOpener } from "../../../main/wiring/engines.ts";
import { benchButler } from "../../bench-home.ts";
import { type JudgedOpening, judge, sharesOf } from "./judge.ts";
import { liveWeek } from "./live.ts";
import { readWeek } from "./script.ts";

export interface WeekOptions {
  /** The scripted week; the one of a coding agent if left out. */
  readonly file: string | undefined;
  /** Asks as for a first prompt, with a search, instead of for an opening. */
  readonly searched: boolean;
  readonly json: boolean;
}

const CODING = fileURLToPath(new URL("../../../../bench/week/coding.txt", import.meta.url));

export async function benchWeek(options: WeekOptions, { environment, say }: Context): Promise<void> {
  const week = readWeek(await readFile(options.file ?? CODING, "utf8"));
  const cacheDir = homeAt(environment.home).models;
  const model = await locateModel({ modelDir: environment.modelDir, cacheDir, variant: "int8" });
  const folder = await mkdtemp(join(tmpdir(), "butler-week-"));
  const embedder = model && (await openOnnxEmbedder(model));
  let now = week.sessions[0]?.at ?? new Date(0);
  const clock = { now: () => now, fixed: true };
  try {
    const place = { folder: () => join(folder, "store"), databaseUrl: undefined };
    const memory = await memoryOpener({ stores: place, clock, log: silentLog })(benchButler("week").config, embedder);
    try {
      const set = (at: Date) => {
        now = at;
      };
      const asked = options.searched ? {} : { opening: true };
      const judged = (await liveWeek({ memory, set, folder, asked }, week)).map((opening) => judge(week, opening));
      for (const line of options.json ? [JSON.stringify(judged, null, 1)] : judged.flatMap(shown)) say(line);
      if (!options.json) say(summary(judged));
    } finally {
      await memory.close();
    }
  } finally {
    await embedder?.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const MARKS = { useful: "+", useless: ".", harmful: "!" } as const;

const shown = ({ session, at, tokens, lines }: JudgedOpening): string[] => [
  `Session ${session}, ${at.slice(0, 16).replace("T", " ")}, ${tokens} tokens`,
  ...lines.map(({ line, verdict }) => `  ${MARKS[verdict]} ${line.slice(2)}`),
];

function summary(judged: readonly JudgedOpening[]): string {
  const { openings, lines, useful, useless, harmful, tokens, told } = sharesOf(judged);
  const percent = (part: number, all: number) => `${((100 * part) / Math.max(1, all)).toFixed(1)} %`;
  return [
    `${openings} sessions, ${lines} lines, ${tokens} tokens on average:`,
    `useful ${percent(useful, lines)} (+), useless ${percent(useless, lines)} (.), harmful ${percent(harmful, lines)} (!);`,
    `told of what was worth telling: ${percent(told, 1)}`,
  ].join(" ");
}
