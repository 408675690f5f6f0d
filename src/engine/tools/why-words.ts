/** The answer of memory_why as text: the verdict first, then the numbers, then every check. */
import { SIGNAL_WORDS } from "../memory/recall/why/ranking.ts";

interface Signal {
  readonly scaled: number;
  readonly weight: number;
}

export interface WhyShown {
  readonly id: string;
  readonly type: string;
  readonly shown: boolean;
  readonly verdict: string;
  readonly steps: readonly { readonly check: string; readonly ok: boolean; readonly words: string }[];
  readonly explain?:
    | {
        readonly keyword_rank: number | null;
        readonly semantic_rank: number | null;
        readonly reranked: string;
        readonly composite: number;
        readonly signals?: Readonly<Record<string, Signal>> | undefined;
      }
    | undefined;
  readonly degraded?: string | undefined;
}

export interface WhyStyle {
  /** `why` begins with how it got its place, `why-not` with what kept it out. */
  readonly lead: "why" | "why-not";
  readonly bars: boolean;
}

export function whyWords(answer: WhyShown, { lead, bars }: WhyStyle): string {
  return [
    ...(lead === "why" ? ledByPlace(answer) : ledByReason(answer)),
    ...signalLines(answer, bars),
    ...answer.steps.map((step) => `  ${stepWords(step)}`),
  ].join("\n");
}

export const stepWords = ({ check, ok, words }: WhyShown["steps"][number]): string =>
  `${ok ? "✓" : "✗"} ${check}: ${words}`;

const head = ({ type, id }: WhyShown, said: string): string => `${type} ${id} ${said}`;

function ledByPlace(answer: WhyShown): string[] {
  const arms = armsOf(answer);
  return [
    head(answer, answer.shown ? "is shown." : "is not shown."),
    answer.verdict,
    ...(arms === undefined ? [] : [arms]),
  ];
}

function ledByReason(answer: WhyShown): string[] {
  if (answer.shown) return [head(answer, "is not kept out: it IS shown."), answer.verdict];
  const more = answer.steps.filter(({ ok }) => !ok).length - 1;
  const further = more === 0 ? [] : [`${more} more ${more === 1 ? "check keeps" : "checks keep"} it out too.`];
  return [head(answer, "is kept out."), answer.verdict, ...further];
}

function armsOf({ explain }: WhyShown): string | undefined {
  if (explain === undefined) return undefined;
  const place = (rank: number | null) => (rank === null ? "not found" : `place ${rank}`);
  return `By words: ${place(explain.keyword_rank)}. By meaning: ${place(explain.semantic_rank)}. Composite score ${explain.composite.toFixed(2)}.`;
}

const NAMES: Readonly<Record<string, string>> = SIGNAL_WORDS;
const WIDTH = Math.max(...Object.values(NAMES).map((name) => name.length));
const BAR = 20;

/** What each signal adds to relevance, and the most it could add. Signals that add nothing are left out. */
function signalLines({ explain }: WhyShown, bars: boolean): string[] {
  if (explain?.signals === undefined || explain.reranked !== "late-interaction") return [];
  const most = Math.max(...Object.values(explain.signals).map(({ weight }) => Math.abs(weight)), 1e-9);
  return Object.entries(explain.signals)
    .filter(([, { scaled, weight }]) => scaled * weight !== 0)
    .toSorted(([, a], [, b]) => b.scaled * b.weight - a.scaled * a.weight)
    .map(([name, { scaled, weight }]) => {
      const adds = scaled * weight;
      const full = Math.max(1, Math.round((Math.abs(adds) / most) * BAR));
      const bar = bars ? `${(adds < 0 ? "▒" : "█").repeat(full).padEnd(BAR)}  ` : "";
      return `  ${(NAMES[name] ?? name).padEnd(WIDTH)}  ${bar}${adds.toFixed(2)} of ${Math.max(0, weight).toFixed(2)}`;
    });
}
