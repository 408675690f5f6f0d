/** What a page looks like, whether everybody can use it, and what its first sight costs. */
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import type { Store } from "./house.ts";
import { settled } from "./person.ts";

const SHOTS = fileURLToPath(new URL("../../../.cache/screenshots", import.meta.url));
export const SCHEMES = ["light", "dark"] as const;
const SIZES = [
  { width: 1440, height: 900 },
  { width: 375, height: 812 },
] as const;

/** Screenshots of what the page shows now: light and dark, wide and narrow. It looks the same on both stores, so one of them is enough. */
export async function shoot(page: Page, store: Store, name: string): Promise<void> {
  if (store !== "PGlite") return;
  const folder = join(SHOTS, store.toLowerCase());
  mkdirSync(folder, { recursive: true });
  const before = page.viewportSize();
  for (const colorScheme of SCHEMES)
    for (const size of SIZES) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.setViewportSize(size);
      await settled(page);
      await page.evaluate(() => document.fonts.ready.then(() => undefined));
      await page.screenshot({ path: join(folder, `${name}-${colorScheme}-${size.width}.png`), animations: "disabled" });
    }
  await page.emulateMedia({ colorScheme: null, reducedMotion: null });
  if (before !== null) await page.setViewportSize(before);
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** Violations of WCAG A and AA, one line each. The script is evaluated by the debugger: the policy of the pages forbids to add it. */
export async function axe(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = (await page.evaluate(
    (values) =>
      (window as unknown as { axe: { run(of: Document, options: object): Promise<unknown> } }).axe.run(document, {
        runOnly: { type: "tag", values },
        resultTypes: ["violations"],
      }),
    RULES,
  )) as AxeResults;
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(
      ({ target, failureSummary = "" }) => `${id}: ${target.join(" ")}: ${failureSummary.split("\n").at(-1)?.trim()}`,
    ),
  );
}

/** In light and dark. */
export async function axeInBoth(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    found.push(...(await axe(page)).map((line) => `${colorScheme}: ${line}`));
  }
  await page.emulateMedia({ colorScheme: null, reducedMotion: null });
  return found;
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
