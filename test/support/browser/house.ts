/** A real daemon with three butlers, as somebody would start it, and people who look at its pages in Chromium. */
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium } from "playwright-core";
import { afterAll, beforeAll, describe, inject, vi } from "vitest";
import { startServer } from "../../../scripts/postgres/server.ts";
import { run as runOpen } from "../../../src/main/commands/open.ts";
import { readEnvironment } from "../../../src/main/environment.ts";
import { cleanUp, emptyHome, type Up, up, type Variables, variablesFor } from "../owner-processes.ts";
import { PATIENCE, type Person, personIn } from "./person.ts";

export type Store = "PGlite" | "PostgreSQL";

export const BUTLERS = ["general", "health", "travel"] as const;

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  // Containers often have 64 MB of shared memory, and a large page needs more.
  "--disable-dev-shm-usage",
];

export interface House {
  readonly store: Store;
  readonly home: string;
  readonly address: string;
  readonly variables: Variables;
  /** A new browser profile; signed in unless said otherwise, by the session of who came before in this role, unless it must be their own. */
  person(options?: {
    readonly as?: "admin" | "reader" | "nobody";
    readonly own?: boolean;
    readonly context?: BrowserContextOptions;
  }): Promise<Person>;
  /** The address that `butler open` gives: it signs in once. */
  door(as?: "admin" | "reader"): Promise<string>;
  /** From now on this butler's memory is at an address where nobody answers. */
  breakDown(name: string): Promise<void>;
  /** Stops the daemon, does this, and starts it again at the same address. Everybody is signed out by that. */
  whileStopped(work: () => Promise<void>): Promise<void>;
}

export type Suite = (house: () => House) => void;

/** Runs the suites one after the other in one house of this store. Whoever came for a suite leaves at its end. */
export function inHouse(store: Store, suites: Readonly<Record<string, Suite>>): void {
  const impossible =
    inject("chromium") === undefined || (store === "PostgreSQL" && inject("postgresUrl") === undefined);
  describe.skipIf(impossible)(`the pages on ${store}`, () => {
    let open: Awaited<ReturnType<typeof openHouse>> | undefined;
    beforeAll(async () => {
      open = await openHouse(store);
    });
    afterAll(async () => {
      await open?.close();
    });
    for (const [name, suite] of Object.entries(suites))
      describe(name, () => {
        afterAll(async () => {
          await open?.everybodyLeaves();
        });
        suite(() => {
          if (open === undefined) throw new Error("the house is not open");
          return open.house;
        });
      });
  });
}

async function openHouse(store: Store) {
  // Each butler has a database named after it: a server of its own lets several test files run side by side.
  const server = store === "PostgreSQL" ? await startServer() : undefined;
  const home = emptyHome();
  const roster = join(home, "roster");
  for (const name of BUTLERS) writeButler(roster, name, "[modules.memory]\n");
  const variables: Variables = {
    BUTLER_ROSTER: roster,
    ...(server === undefined ? {} : { BUTLER_DATABASE_URL: server.url }),
  };
  let daemon: Up = await up(home, [], variables);
  const { address } = daemon;
  const browser = await launch();
  const people: Person[] = [];
  /** Cookies by role. */
  const signedIn = new Map<string, BrowserContextOptions["storageState"]>();
  const environment = readEnvironment(variablesFor(home, variables));
  // The command itself, without the second that a process takes to start.
  const door: House["door"] = (as = "admin") =>
    vi.waitFor(async () => {
      const said: string[] = [];
      const context = { environment, say: (line: string) => void said.push(line), note: () => undefined };
      await runOpen(["--print", ...(as === "reader" ? ["--reader"] : [])], context);
      return said.join("").trim();
    }, PATIENCE);
  const everybodyLeaves = async () => {
    for (const person of people.splice(0)) await person.close();
  };
  const house: House = {
    store,
    home,
    address,
    variables,
    door,
    async person({ as = "admin", own = false, context = {} } = {}) {
      const storageState = as === "nobody" || own ? undefined : signedIn.get(as);
      const options = storageState === undefined ? context : { storageState, ...context };
      const entry = as === "nobody" ? undefined : storageState === undefined ? await door(as) : "/memory";
      const person = await personIn(browser, address, options, entry);
      people.push(person);
      if (as !== "nobody" && !own && storageState === undefined) signedIn.set(as, await person.context.storageState());
      return person;
    },
    async breakDown(name) {
      const service = `http://127.0.0.1:${await closedPort()}/butlers/memory`;
      writeButler(roster, name, `[modules.memory]\nservice = "${service}"\n`);
    },
    async whileStopped(work) {
      await everybodyLeaves();
      signedIn.clear();
      daemon.child.kill("SIGTERM");
      await daemon.ended;
      await work();
      daemon = await up(home, [], { ...variables, BUTLER_PORT: new URL(address).port });
    },
  };
  return {
    house,
    everybodyLeaves,
    async close() {
      await everybodyLeaves();
      await browser.close();
      await cleanUp();
      await server?.stop();
    },
  };
}

function writeButler(roster: string, name: string, memory: string): void {
  mkdirSync(join(roster, name), { recursive: true });
  const head = `[butler]\nname = "${name}"\ndescription = "The butler for ${name}"\n`;
  writeFileSync(join(roster, name, "butler.toml"), `${head}\n${memory}`);
}

function launch(): Promise<Browser> {
  const executablePath = inject("chromium");
  if (executablePath === undefined) throw new Error("there is no Chromium in this run");
  return chromium.launch({ executablePath, args: FLAGS });
}

/** A port that was free a moment ago, and on which nobody listens. */
export function closedPort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => done(port));
    });
  });
}
