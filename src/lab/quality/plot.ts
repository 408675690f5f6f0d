import { clip } from "../../engine/domain/text/text.ts";
/** Bar charts as SVG text. The chart has its own background, so it is legible on a light and on a dark page. */
export interface Bar {
  readonly label: string;
  readonly value: number;
  readonly low?: number;
  readonly high?: number;
}

export interface BarChart {
  readonly title: string;
  readonly unit: string;
  readonly groups: readonly { readonly label: string; readonly bars: readonly Bar[] }[];
}

const WIDTH = 720;
const LEFT = 190;
const RIGHT = 90;
const ROW = 26;
const BAR = 16;
const HEAD = 60;
const GROUP = 34;
const FOOT = 18;

const STYLE = [
  ".card{fill:#fff;stroke:#d0d7de}.text{fill:#1f2328}.soft{fill:#59636e}.bar{fill:#2f6fbb}.first{fill:#1a7f5a}",
  ".grid{stroke:#d0d7de}.whisker{stroke:#1f2328;stroke-width:1.5}",
  "text{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;font-size:14px}",
  ".title{font-size:17px;font-weight:600}.group{font-weight:600}",
  "@media(prefers-color-scheme:dark){.card{fill:#161b22;stroke:#3d444d}.text{fill:#f0f6fc}.soft{fill:#9198a1}",
  ".bar{fill:#5c9ded}.first{fill:#3fb68b}.grid{stroke:#3d444d}.whisker{stroke:#f0f6fc}}",
].join("");

export function barChart({ title, unit, groups }: BarChart): string {
  const top = topOf(groups.flatMap(({ bars }) => bars.flatMap(({ value, high }) => [value, high ?? value])));
  const x = (value: number) => round(LEFT + (Math.max(0, value) / top) * (WIDTH - LEFT - RIGHT));
  const body: string[] = [];
  let y = HEAD;
  for (const { label, bars } of groups) {
    body.push(text(16, y + 18, "text group", label, 84));
    y += GROUP;
    body.push(...[0.25, 0.5, 0.75, 1].map((share) => gridLine(x(top * share), y, bars.length)));
    for (const [index, bar] of bars.entries()) {
      body.push(...drawBar(bar, index === 0 ? "bar first" : "bar", unit, y, x));
      y += ROW;
    }
  }
  const height = y + FOOT;
  const told = groups.map(({ label, bars }) => `${label}: ${bars.map((bar) => words(bar, unit)).join(", ")}`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title desc">`,
    `<title id="title">${xml(title)}</title>`,
    `<desc id="desc">${xml(told.join(". "))}</desc>`,
    `<style>${STYLE}</style>`,
    `<rect class="card" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="8"/>`,
    text(16, 32, "text title", title, 80),
    ...body,
    "</svg>",
    "",
  ].join("\n");
}

const gridLine = (x: number, y: number, rows: number) =>
  `<line class="grid" x1="${x}" x2="${x}" y1="${y - 4}" y2="${y + rows * ROW - 6}"/>`;

function drawBar(bar: Bar, look: string, unit: string, y: number, x: (value: number) => number): string[] {
  const middle = y + BAR / 2;
  const { low, high } = bar;
  const whisker =
    low === undefined || high === undefined
      ? []
      : [
          `<path class="whisker" fill="none" d="M${x(low)} ${middle}H${x(high)}M${x(low)} ${middle - 4}v8M${x(high)} ${middle - 4}v8"/>`,
        ];
  return [
    text(LEFT - 10, y + 13, "soft", bar.label, 24, "end"),
    `<rect class="${look}" x="${LEFT}" y="${y}" width="${round(x(bar.value) - LEFT)}" height="${BAR}" rx="2"/>`,
    ...whisker,
    text(Math.max(x(bar.value), x(high ?? 0)) + 8, y + 13, "text", words({ ...bar, label: "" }, unit), 24),
  ];
}

const words = ({ label, value }: Bar, unit: string) =>
  `${label} ${round(value)}${unit === "%" ? " %" : unit && ` ${unit}`}`.trim();

function text(x: number, y: number, look: string, content: string, most: number, anchor = "start"): string {
  return `<text class="${look}" x="${x}" y="${y}" text-anchor="${anchor}">${xml(clip(content, most))}</text>`;
}

/** The next of 1, 2, 2.5, 5, 10 times a power of ten, so that a quarter of it is a round figure too. */
function topOf(values: readonly number[]): number {
  const most = Math.max(0, ...values.filter(Number.isFinite));
  if (most === 0) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  return (([1, 2, 2.5, 5, 10].find((step) => step * power >= most) ?? 10) as number) * power;
}

/** Rounds by way of the text, so that a chart shows the same digits as a table. */
const round = (value: number) => Number(value.toFixed(1));

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};
// Characters below a space are not allowed in XML at all, escaped or not.
const xml = (raw: string) => [...raw].map((c) => (c < " " ? " " : (ENTITIES[c] ?? c))).join("");
