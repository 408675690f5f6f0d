/** Somebody at a browser. Whatever goes wrong in their pages is noted, and a test that does not look at it fails. */
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";

// biome-ignore lint/suspicious/noExplicitAny: answers are checked by the assertions of each test, field by field.
export type Answer = Record<string, any>;

export interface Person {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Opens an address of the pages and waits until its sentence is there. */
  open(path: string): Promise<void>;
  /** Asks the API with this person's cookie; throws unless the status is the one that is expected. */
  api(method: "GET" | "POST" | "DELETE", path: string, body?: object, status?: number): Promise<Answer>;
  /** Troubles that a test brings about on purpose. */
  expectTrouble(pattern: RegExp): void;
  /** Console errors, exceptions, failed requests and violations of the content policy so far, without those that were expected. */
  troubles(): readonly string[];
  close(): Promise<void>;
}

/** What a page does not show within this time it never shows, on the busiest machine too. */
export const PATIENCE = { timeout: 10 * 60_000 };

/** A query that is no longer wanted is cut off by the page itself; streams end when a page is left. */
const CUT_OFF = /net::ERR_ABORTED/;

export async function personIn(
  browser: Browser,
  address: string,
  options: BrowserContextOptions,
  /** An address that leads to the first page, signed in. */
  door: string | undefined,
): Promise<Person> {
  const context = await browser.newContext({
    baseURL: address,
    viewport: { width: 1440, height: 900 },
    locale: "en-GB",
    timezoneId: "UTC",
    ...options,
  });
  context.setDefaultTimeout(PATIENCE.timeout);
  const found: string[] = [];
  const expected: RegExp[] = [];
  await context.exposeBinding("reportTrouble", (_, words: string) => void found.push(words));
  await context.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      const report = (window as unknown as { reportTrouble(words: string): void }).reportTrouble;
      report(`policy: ${event.violatedDirective} forbids ${event.blockedURI} in ${event.sourceFile}`);
    });
  });
  // Words about what was just done stay for ten minutes: on the busiest machine too there is time to press Undo.
  await context.addInitScript(() => {
    const real = window.setTimeout.bind(window);
    window.setTimeout = ((work: TimerHandler, ms = 0, ...args: unknown[]) =>
      real(work, ms >= 5_000 ? ms * 100 : ms, ...args)) as typeof window.setTimeout;
  });
  context.on("console", (message) => {
    if (message.type() === "error") found.push(`console: ${message.text()} (${message.location().url})`);
  });
  context.on("weberror", (error) => found.push(`exception: ${error.error().stack ?? error.error().message}`));
  context.on("requestfailed", (request) => {
    const why = request.failure()?.errorText ?? "";
    if (!CUT_OFF.test(why)) found.push(`request: ${request.method()} ${request.url()} ${why}`);
  });
  context.on("response", (response) => {
    if (response.status() >= 400)
      found.push(`status ${response.status()}: ${response.request().method()} ${response.url()}`);
  });
  const page = await context.newPage();
  const person: Person = {
    page,
    context,
    async open(path) {
      await page.goto(path);
      await settled(page);
    },
    async api(method, path, body, status = 200) {
      const response = await context.request.fetch(path, {
        method,
        ...(body === undefined ? {} : { data: body }),
        ...(method === "POST" ? { headers: { "content-type": "application/json" }, data: body ?? {} } : {}),
      });
      const answer = (await response.json()) as Answer;
      if (response.status() !== status)
        throw new Error(`${method} ${path} → ${response.status()} ${JSON.stringify(answer)}`);
      return answer;
    },
    expectTrouble: (pattern) => void expected.push(pattern),
    troubles: () => found.filter((words) => !expected.some((pattern) => pattern.test(words))),
    close: () => context.close(),
  };
  if (door !== undefined) {
    await page.goto(door);
    await page.waitForURL(/\/memory$/);
    await settled(page);
  }
  return person;
}

/** The page shows its sentence or what went wrong, and nothing is being loaded any more. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).or(page.getByRole("alert")).first().waitFor();
  await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null);
}
