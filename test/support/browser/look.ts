/** What a page looks like, whether everybody can use it, and what its first sight costs. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import type { Store } from "./house.ts";
import { settled } from "./person.ts";

const CACHE = fileURLToPath(new URL("../../../.cache", import.meta.url));
const SHOTS = join(CACHE, "screenshots/pglite");
const SCHEMES = ["light", "dark"] as const;
const SIZES = [
  { width: 1440, height: 900 },
  { width: 375, height: 812 },
] as const;

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] } as const;
/** All other rules say the same in both colours. */
const COLOURS = { type: "rule", values: ["color-contrast"] } as const;

/**
 * Violations of WCAG A and AA in light and dark, one line each; with a name also screenshots of both, wide and narrow. It looks the same on
 * both stores, so one of them is enough.
 */
export async function look(page: Page, store: Store, name?: string): Promise<string[]> {
  if (store !== "PGlite") return [];
  const before = page.viewportSize();
  const found: string[] = [];
  for (const scheme of SCHEMES) {
    await colour(page, scheme);
    found.push(...(await axe(page, scheme === "light" ? RULES : COLOURS)).map((line) => `${scheme}: ${line}`));
    if (name !== undefined) await shoot(page, `${name}-${scheme}`);
    if (before !== null) await page.setViewportSize(before);
  }
  await colour(page, undefined);
  return found;
}

async function shoot(page: Page, name: string): Promise<void> {
  mkdirSync(SHOTS, { recursive: true });
  for (const size of SIZES) {
    await page.setViewportSize(size);
    await settled(page);
    await page.evaluate(() => document.fonts.ready.then(() => undefined));
    await page.screenshot({ path: join(SHOTS, `${name}-${size.width}.png`), animations: "disabled" });
  }
}

/** Chromium keeps the old colours of what was hidden when they changed, unless the root says so itself. */
async function colour(page: Page, scheme: (typeof SCHEMES)[number] | undefined): Promise<void> {
  await page.emulateMedia({
    colorScheme: scheme ?? null,
    reducedMotion: scheme === undefined ? null : "reduce",
  });
  await page.evaluate((value) => {
    document.documentElement.style.colorScheme = value;
  }, scheme ?? "");
}

/** The script is evaluated by the debugger: the policy of the pages forbids to add it. */
async function axe(page: Page, runOnly: typeof RULES | typeof COLOURS): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  const { violations } = (await page.evaluate(
    (only) =>
      (window as unknown as { axe: { run(of: Document, options: object): Promise<unknown> } }).axe.run(document, {
        runOnly: only,
        resultTypes: ["violations"],
      }),
    runOnly,
  )) as AxeResults;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(
      ({ target, failureSummary = "" }) => `${id}: ${target.join(" ")}: ${failureSummary.split("\n").at(-1)?.trim()}`,
    ),
  );
}

export interface Vitals {
  readonly firstPaintMs: number;
  readonly layoutShift: number;
  /** Bodies of all answers since the address was opened, as they came over the wire. */
  readonly bytes: number;
}

export function vitals(page: Page): Promise<Vitals> {
  return page.evaluate(async () => {
    const layoutShift = await new Promise<number>((done) => {
      let sum = 0;
      const observer = new PerformanceObserver((list) => {
        for (const entry of list.getEntries() as (PerformanceEntry & { value: number; hadRecentInput: boolean })[])
          if (!entry.hadRecentInput) sum += entry.value;
      });
      observer.observe({ type: "layout-shift", buffered: true });
      // Buffered entries are handed over in a task of their own, before the next frames are drawn.
      requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(sum), 50)));
    });
    const loaded = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
    const bytes = (loaded as PerformanceResourceTiming[]).reduce(
      (total, { encodedBodySize }) => total + encodedBodySize,
      0,
    );
    const [paint] = performance.getEntriesByName("first-contentful-paint");
    return { firstPaintMs: paint?.startTime ?? Number.NaN, layoutShift, bytes };
  });
}

/** What the first sight of each page cost on this machine in this run, for people: no test depends on its pace. */
export function writeVitals(store: Store, pages: ReadonlyMap<string, Vitals>): void {
  const rows = [...pages].map(
    ([name, { firstPaintMs, layoutShift, bytes }]) =>
      `| ${name} | ${Math.round(firstPaintMs)} | ${layoutShift.toFixed(3)} | ${Math.round(bytes / 1024)} |`,
  );
  const head = ["| page | first contentful paint, ms | layout shift | KB, packed |", "|---|---|---|---|"];
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(join(CACHE, `first-sight-${store.toLowerCase()}.md`), `${[...head, ...rows].join("\n")}\n`);
}
