/** Set-up of the project whose tests drive the pages in a real browser. */
import { existsSync } from "node:fs";
import type { TestProject } from "vitest/node";
import { installPackages } from "../packages.ts";
import { once } from "./once.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Path of the program; undefined when there is none to be had: its suites are skipped. */
    chromium: string | undefined;
  }
}

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
/** The fonts have Arabic, Hebrew and combining marks, and pictures for emoji: without them screenshots show boxes. */
const PACKAGES = ["chromium", "fonts-dejavu-core", "fonts-noto-color-emoji"];

export async function setup(project: TestProject): Promise<void> {
  const { value } = await once("chromium", findOrInstall);
  project.provide("chromium", value);
}

async function findOrInstall(): Promise<string | undefined> {
  const given = process.env.BUTLER_TEST_CHROMIUM;
  if (given !== undefined && given !== "") {
    if (existsSync(given)) return given;
    throw new Error(`BUTLER_TEST_CHROMIUM names ${given}, and there is nothing.`);
  }
  const found = () => PLACES.find((path) => existsSync(path));
  const trouble = found() === undefined ? await installPackages(PACKAGES, () => found() === undefined) : undefined;
  const path = found();
  if (path !== undefined) return path;
  const words = `Tests in the browser are SKIPPED: there is no Chromium (${trouble}). Install it, or set BUTLER_TEST_CHROMIUM to its path.`;
  if (process.env.CI === "true") throw new Error(words);
  process.stderr.write(`\n!! ${words}\n\n`);
  return undefined;
}
