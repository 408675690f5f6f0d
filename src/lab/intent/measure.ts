/** Asks every prompt of a mixed memory with intent routing and diversification on and off, and says where the right memory came. */
import { readIntent } from "../../engine/domain/ranking/intent.ts";
import type { Memory } from "../../engine/memory/memory.ts";
import { answerOf } from "../build.ts";
import { type Interval, interval95 } from "../quality/interval.ts";
import { meanOf } from "../quality/metrics.ts";
import { ASKED_AT, atTime } from "./fill.ts";
import { ASKED, type AskedIntent, type Prompt } from "./memories.ts";

export const SETTINGS = {
  both: { intent_routing: true, diversify: true },
  "no routing": { intent_routing: false, diversify: true },
  "no diversification": { intent_routing: true, diversify: false },
  neither: { intent_routing: false, diversify: false },
} as const;
export type SettingName = keyof typeof SETTINGS;
const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

export const FIGURES = ["block_300", "block_600", "mrr", "recall_5", "recall_10"] as const;
export type Figure = (typeof FIGURES)[number];
/** For one prompt: whether the right memory was in the block, its reciprocal rank in the search, whether it was among the first ten. */
export type Found = Readonly<Record<Figure, number>>;

export interface Change {
  readonly off: number;
  readonly on: number;
  readonly difference: number;
  readonly ci95: Interval;
  /** Prompts for which the figure rose, and fell. */
  readonly rose: number;
  readonly fell: number;
}

export type Changes = Readonly<Record<AskedIntent | "all", Readonly<Record<Figure, Change>>>>;

export interface Readings {
  readonly right: number;
  readonly unsure: number;
  readonly wrong: number;
}

export interface IntentFigures {
  readonly prompts: number;
  readonly read: Readonly<Record<AskedIntent, Readings>>;
  readonly found: Readonly<Record<SettingName, Readonly<Record<AskedIntent | "all", Found>>>>;
  /** The effect of each of the two while the other is on, as it is by default. */
  readonly routing: Changes;
  readonly diversification: Changes;
}

const LIMIT = 20;

export async function measureIntent(
  memory: Memory,
  prompts: readonly Prompt[],
  ids: ReadonlyMap<string, string>,
  progress: (done: number, total: number) => void,
): Promise<IntentFigures> {
  const found: Record<SettingName, Found[]> = { both: [], "no routing": [], "no diversification": [], neither: [] };
  for (const [index, { text, answer }] of prompts.entries()) {
    for (const name of SETTING_NAMES) found[name].push(await find(under(memory, name), text, ids.get(answer) ?? ""));
    progress(index + 1, prompts.length);
  }
  return figuresOf(prompts, found);
}

/**
 * All settings share one open store: reading must count no references, or the first setting would change what the next one
 * ranks by.
 */
function under(memory: Memory, name: SettingName): Memory {
  const { settings } = memory;
  return {
    ...atTime(memory, ASKED_AT),
    settings: { ...settings, retrieval: { ...settings.retrieval, ...SETTINGS[name] } },
    uncounted: [],
    afterwards: {
      push: () => undefined,
      later: () => undefined,
      now: () => Promise.resolve(),
      settled: () => Promise.resolve(),
    },
  };
}

async function find(memory: Memory, text: string, id: string): Promise<Found> {
  const inBlock = async (token_budget: number) => {
    const { sections } = await answerOf(memory, "memory_context", { trigger_prompt: text, token_budget });
    return sections.some(({ items }) => items.some((item) => item.id === id)) ? 1 : 0;
  };
  const { results } = await answerOf(memory, "memory_search", { query: text, rank: "composite", limit: LIMIT });
  const place = results.findIndex((result) => result.id === id) + 1;
  return { block_300: await inBlock(300), block_600: await inBlock(600), ...placeFigures(place) };
}

/** `place` is the rank from 1, or 0 when it was not found. */
export function placeFigures(place: number): Pick<Found, "mrr" | "recall_5" | "recall_10"> {
  const within = (k: number) => (place > 0 && place <= k ? 1 : 0);
  return { mrr: place === 0 ? 0 : 1 / place, recall_5: within(5), recall_10: within(10) };
}

export function figuresOf(
  prompts: readonly Prompt[],
  found: Readonly<Record<SettingName, readonly Found[]>>,
): IntentFigures {
  const groups = [...ASKED, "all"] as const;
  const of = (group: AskedIntent | "all", values: readonly Found[]) =>
    values.filter((_, at) => group === "all" || prompts[at]?.intent === group);
  const changes = (off: SettingName) =>
    byName(groups, (group) =>
      byName(FIGURES, (figure) =>
        changeOf(
          of(group, found[off]).map((one) => one[figure]),
          of(group, found.both).map((one) => one[figure]),
        ),
      ),
    );
  return {
    prompts: prompts.length,
    read: byName(ASKED, (intent) => readingsOf(prompts.filter((prompt) => prompt.intent === intent))),
    found: byName(SETTING_NAMES, (name) =>
      byName(groups, (group) => byName(FIGURES, (figure) => meanOf(of(group, found[name]).map((one) => one[figure])))),
    ),
    routing: changes("no routing"),
    diversification: changes("no diversification"),
  };
}

/** The same prompts in the same order on both sides. */
export function changeOf(off: readonly number[], on: readonly number[]): Change {
  const differences = on.map((value, at) => value - (off[at] ?? 0));
  return {
    off: meanOf(off),
    on: meanOf(on),
    difference: meanOf(differences),
    ci95: interval95(differences),
    rose: differences.filter((difference) => difference > 0).length,
    fell: differences.filter((difference) => difference < 0).length,
  };
}

function readingsOf(prompts: readonly Prompt[]): Readings {
  const read = prompts.map(({ text, intent }) => ({ intent, as: readIntent(text).intent }));
  const right = read.filter(({ intent, as }) => as === intent).length;
  const unsure = read.filter(({ as }) => as === "other").length;
  return { right, unsure, wrong: read.length - right - unsure };
}

function byName<K extends string, V>(names: readonly K[], of: (name: K) => V): Readonly<Record<K, V>> {
  return Object.fromEntries(names.map((name) => [name, of(name)])) as Record<K, V>;
}
