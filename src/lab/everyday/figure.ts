/** A figure of the everyday benchmark: what was measured, its floor in the same run, and what is wanted. */
import { round } from "../figures.ts";

export type Unit = "ms" | "CPU ms" | "MB" | "tokens" | "runs";

export interface Figure {
  readonly group: string;
  readonly name: string;
  readonly unit: Unit;
  /** Null where this machine does not tell. */
  readonly is: number | null;
  readonly floor: number | null;
  /** What the floor is. */
  readonly of: string;
  readonly ratio: number | null;
  /** The limit on the figure itself or, with `times`, on its ratio. */
  readonly most?: { readonly value: number; readonly times?: true };
  readonly met: boolean | null;
}

export interface Measured {
  readonly name: string;
  readonly unit: Unit;
  readonly is: number | null;
  readonly floor: number | null;
  readonly of: string;
  readonly most?: Figure["most"];
}

export function figure(group: string, { is, floor, most, ...rest }: Measured): Figure {
  const ratio = is === null || !floor ? null : round(is / floor, 2);
  const limited = most?.times ? ratio : is;
  const met = most === undefined || limited === null ? null : limited <= most.value;
  const digits = rest.unit === "ms" ? 1 : 0;
  const rounded = (value: number | null) => (value === null ? null : round(value, digits));
  return { group, ...rest, is: rounded(is), floor: rounded(floor), ratio, ...(most ? { most } : {}), met };
}

export function figureLines(figures: readonly Figure[]): string[] {
  const lines = [cells("", "is", "floor", "ratio", "wanted", "")];
  let group = "";
  for (const one of figures) {
    if (one.group !== group) lines.push("", one.group);
    group = one.group;
    const mark = one.met === null ? " " : one.met ? "✓" : "✗";
    lines.push(
      cells(
        `${mark} ${one.name}`,
        `${shown(one.is)} ${one.unit}`,
        shown(one.floor),
        shown(one.ratio),
        wanted(one),
        one.of,
      ),
    );
  }
  return lines;
}

const wanted = ({ most }: Figure) => (most === undefined ? "" : `≤ ${most.value}${most.times ? "×" : ""}`);
const shown = (value: number | null) => (value === null ? "?" : String(value));

const cells = (name: string, is: string, floor: string, ratio: string, limit: string, of: string) =>
  `${name.padEnd(52)}${is.padStart(14)}${floor.padStart(9)}${ratio.padStart(8)}${limit.padStart(9)}  ${of}`.trimEnd();
