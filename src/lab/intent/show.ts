/** The figures of intent routing and diversification as tables. */
import { type Change, type Changes, FIGURES, type Figure, type IntentFigures } from "./measure.ts";
import { ASKED } from "./memories.ts";

export interface IntentReport extends IntentFigures {
  readonly facts: number;
  readonly rules: number;
  readonly episodes: number;
  readonly model: string;
  readonly seconds: number;
}

const NAMES: Readonly<Record<Figure, string>> = {
  block_300: "in a block of 300 tokens",
  block_600: "in a block of 600 tokens",
  mrr: "search, MRR",
  recall_5: "search, first 5",
  recall_10: "search, first 10",
};

const percent = (share: number) => (share * 100).toFixed(1);
const signed = (share: number) => `${share >= 0 ? "+" : "−"}${percent(Math.abs(share))}`;

export function intentLines(report: IntentReport): string[] {
  const memories = report.facts + report.rules + report.episodes;
  return [
    `${report.prompts} prompts to ${memories.toLocaleString("en")} invented memories: ${report.facts} facts, ${report.rules} rules, ${report.episodes} episodes; ${report.model}, embedded store, ${report.seconds} s`,
    "",
    "Read as what they are:",
    ...ASKED.map((intent) => {
      const { right, unsure, wrong } = report.read[intent];
      return `  ${intent.padEnd(11)} ${right} of ${right + unsure + wrong}; ${unsure} left open, ${wrong} taken for another`;
    }),
    "",
    ...changeLines("Intent routing: % of right memories found without and with it", report.routing),
    "",
    ...changeLines("Diversification: % of right memories found without and with it", report.diversification),
    "",
    "In brackets: 95 % of the difference, by bootstrap over the same prompts. The prompts of one intent alone are few.",
  ];
}

function changeLines(title: string, changes: Changes): string[] {
  const rows = ([...ASKED, "all"] as const).flatMap((group) => FIGURES.map((figure) => row(group, figure)));
  return [title, `${"".padEnd(36)} ${"off".padStart(6)} ${"on".padStart(6)}   difference`, ...rows];

  function row(group: keyof Changes, figure: Figure): string {
    const change = changes[group][figure];
    const [low, high] = change.ci95;
    const cells = [percent(change.off), percent(change.on)].map((cell) => cell.padStart(6)).join(" ");
    const difference = `${signed(change.difference)} (${signed(low)} to ${signed(high)})`;
    return `${group.padEnd(11)} ${NAMES[figure].padEnd(24)} ${cells}   ${difference.padEnd(24)} ${verdict(change)}`;
  }
}

/** Says better or worse only where the 95 % interval does not hold zero. */
export function verdict({ ci95: [low, high], rose, fell }: Change): string {
  if (rose + fell === 0) return "the same";
  const moved = `${rose} up, ${fell} down`;
  return low > 0 ? `better: ${moved}` : high < 0 ? `worse: ${moved}` : `no difference shown: ${moved}`;
}
