/** Everything about a subject, as text that a person can read. */
import { neutral, neutralLine } from "../../engine/domain/text/neutral.ts";

export interface ExportShown {
  readonly subject: string;
  readonly exported_at: string;
  readonly memories: readonly {
    readonly type: "episode" | "fact" | "rule";
    readonly id: string;
    readonly scope: string;
    readonly state: string;
    readonly subject: string | null;
    readonly predicate: string | null;
    readonly content: string;
    readonly speaker: string | null;
    readonly session_id: string | null;
    readonly confidence: number | null;
    readonly trust: string;
    readonly source: string;
    readonly created_at: string;
    readonly links: readonly { readonly relation: string; readonly from: string; readonly to: string }[];
    readonly events: readonly { readonly event: string; readonly at: string; readonly by: string }[];
  }[];
}

const TITLES = [
  ["fact", "Facts"],
  ["rule", "Rules"],
  ["episode", "What was said"],
] as const;

export function exportWords({ subject, exported_at, memories }: ExportShown): string[] {
  const parts = TITLES.flatMap(([type, title]) => {
    const own = memories.filter((memory) => memory.type === type);
    return own.length === 0 ? [] : ["", `${title} (${own.length})`, ...own.flatMap(memoryLines)];
  });
  return [`What is known about ${neutralLine(subject)}, on ${day(exported_at)}`, ...parts];
}

function memoryLines(memory: ExportShown["memories"][number]): string[] {
  const { type, id, state, subject, predicate, content, speaker, session_id, trust, source, scope, confidence } =
    memory;
  const head = type === "fact" ? `${subject} · ${predicate}: ` : speaker === null ? "" : `${speaker}: `;
  const about = [
    state,
    `since ${day(memory.created_at)}`,
    `word of ${trust}`,
    ...(confidence === null ? [] : [`confidence ${confidence.toFixed(2)}`]),
    `in ${scope}`,
    `from ${source}`,
    ...(session_id === null ? [] : [`session ${session_id}`]),
  ];
  const changes = memory.events.map(
    ({ event, at, by }) => `${day(at)} ${event.split(".")[1]?.replaceAll("_", " ")} by ${by}`,
  );
  return [
    `- ${neutral(`${head}${content}`).replaceAll("\n", "\n  ")}`,
    `  ${neutralLine(about.join(", "))}; ${id}`,
    `  ${neutralLine(changes.join("; "))}`,
  ];
}

const day = (at: string): string => at.slice(0, 10);
