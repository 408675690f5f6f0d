/** Who may be asked when episodes are learned from: asked once, at `butler install`, or said with a flag. */
import { chmodSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { defaultButler } from "../../daemon/config/config.ts";
import { choiceLine, type LearningChoice, withChoice } from "../../daemon/config/learning-choice.ts";
import { type Home, readIfThere, writePrivate } from "../../daemon/home.ts";
import { rosterEntries } from "../../daemon/roster/roster.ts";
import { PROVIDERS, type Provider } from "../../engine/adapters/extractor/port.ts";
import { realPath } from "../../engine/adapters/files/real-path.ts";
import { invalid, isMissing, MemoryError } from "../../engine/domain/errors.ts";
import type { Settings } from "../../engine/memory/settings.ts";
import { isOnPath } from "../../hosts/install/status.ts";
import type { Environment } from "../environment.ts";
import { short } from "../words/install.ts";
import { type LearningTold, type Offer, offerOf, questionText } from "../words/learning.ts";
import type { Context } from "./command.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** The butler.toml that a choice stands in, or would. */
export interface LearningPlace {
  readonly butler: string;
  readonly file: string;
  readonly extractor: Settings["extractor"];
  /** Undefined: nobody has chosen yet. */
  readonly line: number | undefined;
}

/** Undefined for a butler that learns elsewhere, or not at all, or whose file has faults. */
export function learningPlace({ roster }: Environment, home: Home, butler: string): LearningPlace | undefined {
  const entries = entriesOf(roster, home);
  const own = entries?.find(({ name }) => name === butler);
  if (own === undefined) {
    const { name, memory } = defaultButler("general");
    const usual = entries?.length === 0 && name === butler;
    return usual ? { butler, file: home.settingsFile, extractor: memory.extractor, line: undefined } : undefined;
  }
  if (!own.checked.ok) return undefined;
  const { memory } = own.checked.config;
  if (!memory.enabled || memory.service !== undefined) return undefined;
  return { butler, file: own.file, extractor: memory.extractor, line: choiceLine(own.checked.written) };
}

/** A roster that is gone must not keep an agent from being uninstalled. */
function entriesOf(roster: string | undefined, home: Home) {
  try {
    return rosterEntries(roster, home.settingsFile);
  } catch (error) {
    if (error instanceof MemoryError) return undefined;
    throw error;
  }
}

export const LEARN_FLAGS = {
  "learn-with": { type: "string" },
  "learn-model": { type: "string" },
  "learn-url": { type: "string" },
  "learn-price": { type: "string" },
} as const;

type Flags = { readonly [K in keyof typeof LEARN_FLAGS]?: string };

/** What the flags say; undefined when they say nothing. Throws when it could not work on this machine. */
export async function choiceByFlags(
  flags: Flags,
  place: LearningPlace | undefined,
  variables: Variables,
): Promise<LearningChoice | undefined> {
  const { "learn-with": asked, "learn-model": model, "learn-url": url, "learn-price": price } = flags;
  if (asked === undefined) {
    if (model ?? url ?? price)
      throw invalid("learn-with", "--learn-model, --learn-url and --learn-price need --learn-with.");
    return undefined;
  }
  const provider = PROVIDERS.find((name) => name === asked);
  if (provider === undefined)
    throw invalid("learn-with", `--learn-with is "${asked}"; it must be one of ${PROVIDERS.join(", ")}.`);
  if (place === undefined)
    throw invalid("learn-with", "This butler's memory is off or kept elsewhere: who learns is set where it is kept.");
  const choice = { provider, ...details(provider, model, url, price, variables) };
  await refuseUnusable(choice, place, variables);
  return choice;
}

const OPENAI = "https://api.openai.com/v1";

function details(
  provider: Provider,
  model: string | undefined,
  url: string | undefined,
  price: string | undefined,
  variables: Variables,
): Omit<LearningChoice, "provider"> {
  const address = url ?? (provider === "openai-compatible" ? (variables.OPENAI_BASE_URL ?? OPENAI) : undefined);
  return {
    ...(model === undefined ? {} : { model }),
    ...(address === undefined ? {} : { base_url: address }),
    ...(price === undefined ? {} : pricesIn(price)),
  };
}

function pricesIn(text: string): Pick<LearningChoice, "input_price" | "output_price"> {
  const [, read, written] = /^\s*\$?(\d{1,6}(?:\.\d{1,6})?)\s*\/\s*\$?(\d{1,6}(?:\.\d{1,6})?)\s*$/.exec(text) ?? [];
  if (read === undefined || written === undefined)
    throw invalid(
      "learn-price",
      `The price is "${text}"; it must be dollars for a million tokens read and written, such as 0.15/0.60.`,
    );
  return { input_price: Number(read), output_price: Number(written) };
}

async function refuseUnusable(choice: LearningChoice, place: LearningPlace, variables: Variables): Promise<void> {
  if (choice.provider === "claude-cli" && !hasClaude(variables))
    throw invalid("learn-with", "claude-cli needs the claude program, which is not on the PATH.");
  const { openExtractor } = await import("../wiring/extractor.ts");
  const { daily_budget_usd, timeout_seconds, prefilter } = place.extractor;
  await openExtractor({ daily_budget_usd, timeout_seconds, prefilter, ...choice }, variables).close();
}

const hasClaude = ({ PATH = "" }: Variables): boolean => isOnPath("claude", PATH);

/** What can be had on this machine. */
export function offersOn(variables: Variables): Offer[] {
  const there: Readonly<Record<Provider, boolean>> = {
    local: true,
    "claude-cli": hasClaude(variables),
    anthropic: Boolean(variables.ANTHROPIC_API_KEY),
    "openai-compatible": Boolean(variables.OPENAI_API_KEY),
  };
  const order = ["local", "claude-cli", "anthropic", "openai-compatible"] as const;
  return order.filter((provider) => there[provider]).map(offerOf);
}

/** Undefined where there is nothing to choose or nobody to ask, and when no answer came: then nothing is written, and it is asked again. */
export async function choiceByAsking(
  { ask, note }: Context,
  place: LearningPlace,
  variables: Variables,
): Promise<LearningChoice | undefined> {
  const offers = offersOn(variables);
  if (ask === undefined || offers.length < 2) return undefined;
  const answer = await ask(questionText(offers, place.extractor.daily_budget_usd));
  if (answer === undefined) return undefined;
  const offer =
    answer === "" ? offers[0] : offers.find(({ provider }, at) => answer === provider || answer === `${at + 1}`);
  try {
    if (offer === undefined) throw invalid("learn-with", `"${answer}" is none of them.`);
    const more = offer.provider === "openai-compatible" ? await serverByAsking(ask, variables) : {};
    const choice = more && { provider: offer.provider, ...more };
    if (choice !== undefined) await refuseUnusable(choice, place, variables);
    return choice;
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    note(`${error.message} No model is asked; the question comes again with the next butler install.`);
    return undefined;
  }
}

async function serverByAsking(
  ask: NonNullable<Context["ask"]>,
  variables: Variables,
): Promise<Omit<LearningChoice, "provider"> | undefined> {
  const usual = variables.OPENAI_BASE_URL ?? OPENAI;
  const url = await ask(`Address of the server [${usual}] `);
  const model = url === undefined ? undefined : await ask("Name of the model: ");
  if (url === undefined || model === undefined) return undefined;
  if (model === "") throw invalid("learn-model", "A model is needed.");
  const price = await ask(
    "Dollars for a million tokens read and written, such as 0.15/0.60 (Enter for a server of your own): ",
  );
  if (price === undefined) return undefined;
  return details("openai-compatible", model, url === "" ? usual : url, price === "" ? undefined : price, variables);
}

export function writeChoice({ file, butler }: LearningPlace, choice: LearningChoice): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const text = readIfThere(file);
  const made = withChoice(text, file, butler, choice);
  if (text === undefined) {
    writePrivate(file, made);
    return;
  }
  // The file of a roster may be a link, and others may have to read it.
  const real = realPath(file, isMissing, "keep");
  const { mode } = statSync(real);
  writePrivate(real, made);
  chmodSync(real, mode & 0o777);
}

/** What is in force, once somebody has chosen. */
export function learningTold(environment: Environment, home: Home, butler: string): LearningTold | undefined {
  const place = learningPlace(environment, home, butler);
  if (place?.line === undefined) return undefined;
  const { provider, daily_budget_usd: budget } = place.extractor;
  return { provider, budget, place: `${short(place.file)}:${place.line}` };
}
