/** The configuration as lines for a terminal. */
import { type Fault, faultText } from "../../daemon/config/faults.ts";
import { quoted } from "../../daemon/config/mask.ts";
import type { Effective } from "../../daemon/config/values.ts";

export interface CheckedButler {
  readonly name: string;
  readonly file?: string;
  readonly faults: readonly Fault[];
  readonly warnings: readonly Fault[];
}

export interface ShownButler {
  readonly name: string;
  readonly file?: string;
  readonly memory: "on" | "off" | "shared";
  readonly values: readonly Effective[];
}

type Paint = (code: number, text: string) => string;

const painter =
  (colour: boolean): Paint =>
  (code, text) =>
    colour ? `\u001b[${code}m${text}\u001b[0m` : text;

const [BOLD, DIM, RED, GREEN, YELLOW] = [1, 2, 31, 32, 33];
/** The width of the column of values; a longer value moves only its own source to the right. */
const VALUE_WIDTH = 40;

export function checkLines(
  butlers: readonly CheckedButler[],
  daemon: readonly CheckedButler[],
  roster: string | undefined,
  colour: boolean,
): string[] {
  const paint = painter(colour);
  const all = [...butlers, ...daemon];
  const width = Math.max(...all.map(({ name }) => name.length));
  const indent = " ".repeat(width + 3);
  const faults = all.flatMap((one) => one.faults);
  const warnings = all.flatMap((one) => one.warnings);
  return [
    roster === undefined ? withoutRoster(butlers) : `The roster ${roster}`,
    "",
    ...all.map((butler) => {
      const told = [...butler.faults, ...butler.warnings].map(faultText);
      const sign =
        butler.faults.length > 0 ? paint(RED, "✗") : told.length > 0 ? paint(YELLOW, "!") : paint(GREEN, "✓");
      return `${sign} ${butler.name.padEnd(width)} ${told.length === 0 ? "ok" : told.join(`\n${indent}`)}`;
    }),
    "",
    faults.length > 0
      ? `${faults.length} ${faults.length === 1 ? "fault" : "faults"} in ${all.filter((one) => one.faults.length > 0).length} of ${counted(all.length, daemon.length)}.`
      : warnings.length > 0
        ? `Nothing is wrong; ${warnings.length} could be better.`
        : "All is well.",
  ];
}

const counted = (all: number, files: number): string => (files === 0 ? `${all} butlers` : `${all} files`);

const withoutRoster = ([only]: readonly CheckedButler[]): string =>
  `There is no roster: one butler, ${only?.file === undefined ? "at its defaults" : `with ${only.file}`}.`;

export function showLines(
  { house, butlers }: { readonly house: readonly Effective[]; readonly butlers: readonly ShownButler[] },
  all: boolean,
  colour: boolean,
): string[] {
  const paint = painter(colour);
  return [
    paint(BOLD, "house"),
    ...rows(house, all, paint),
    ...butlers.flatMap(({ name, file, memory, values }) => [
      "",
      `${paint(BOLD, name)}  memory ${memory}${file === undefined ? "" : `  ${paint(DIM, file)}`}`,
      ...rows(values, all, paint),
    ]),
  ];
}

function rows(values: readonly Effective[], all: boolean, paint: Paint): string[] {
  const shown = values.filter(({ differs }) => all || differs);
  const texts = shown.map(({ value }) => (value === undefined ? "–" : quoted(value)));
  const keyWidth = Math.max(0, ...shown.map(({ key }) => key.length));
  const valueWidth = Math.min(VALUE_WIDTH, Math.max(0, ...texts.map((text) => text.length)));
  const rest = values.length - shown.length;
  return [
    ...shown.map(
      ({ key, source }, at) => `  ${key.padEnd(keyWidth)}  ${texts[at]?.padEnd(valueWidth)}  ${paint(DIM, source)}`,
    ),
    ...(rest === 0 ? [] : [paint(DIM, `  ${rest} ${shown.length === 0 ? "" : "more "}at their defaults`)]),
  ];
}
