/**
 * Counts refusals and writes them down once a minute: those of one kind, caller and door together, so that a flood of bad tokens costs a line a
 * minute and not a row each. What is known of a tenant goes into its stream too.
 */
import type { Refusal, RefusalKind, Refusals } from "../../doors/refusals.ts";
import type { Log } from "../../engine/adapters/log.ts";
import type { Meter } from "../../engine/adapters/meter.ts";
import { reasonOf } from "../../engine/domain/errors.ts";
import type { RefusedAccess } from "../../engine/memory/access.ts";
import type { Home } from "../home.ts";
import { type RefusalLine, writeRefusals } from "./refusal-log.ts";

export interface BookParts {
  readonly home: Home;
  readonly log: Log;
  readonly meter: Meter | undefined;
  now(): Date;
  /** The tenant that a caller of this butler has; undefined when there is no such butler with a memory here. */
  tenantOf(tenant: string, butler: string): string | undefined;
  /** Appends to the streams of a butler's store. */
  tell(butler: string, refused: readonly RefusedAccess[]): Promise<void>;
  readonly everyMs?: number;
}

export interface RefusalBook extends Refusals {
  /** Writes down what was counted so far. */
  flush(): Promise<void>;
}

interface Counted {
  readonly kind: RefusalKind;
  readonly door: Refusal["door"];
  readonly actor: string | undefined;
  readonly tenant: string | undefined;
  readonly butler: string | undefined;
  readonly from: Date;
  to: Date;
  count: number;
}

const EVERY_MS = 60_000;
/** Beyond so many callers within a minute, the others of a kind are counted together. */
const MOST = 200;

export function refusalBook(parts: BookParts): RefusalBook {
  const { everyMs = EVERY_MS } = parts;
  let counted = new Map<string, Counted>();
  let timer: NodeJS.Timeout | undefined;
  const flush = async () => {
    clearTimeout(timer);
    timer = undefined;
    const all = [...counted.values()];
    counted = new Map();
    if (all.length > 0) await writeDown(parts, all);
  };
  return {
    flush,
    note(refusal) {
      parts.meter?.count("butler_refusals_total", { kind: refusal.kind, door: refusal.door });
      const one = placeOf(parts, refusal, parts.now());
      const full = counted.size >= MOST && !counted.has(keyOf(one));
      const own = full ? { ...one, actor: undefined, tenant: undefined, butler: undefined } : one;
      const known = counted.get(keyOf(own));
      if (known === undefined) counted.set(keyOf(own), own);
      else {
        known.count += 1;
        known.to = one.to;
      }
      timer ??= setTimeout(() => void flush(), everyMs).unref();
    },
  };
}

const keyOf = ({ kind, door, actor, tenant, butler }: Counted): string =>
  JSON.stringify([kind, door, actor, tenant, butler]);

/** In whose stream it belongs: that of the butler whose token it is, else that of the butler that was called. */
function placeOf({ tenantOf }: BookParts, { kind, door, by, butler }: Refusal, now: Date): Counted {
  const counted = { kind, door, actor: by?.name, from: now, to: now, count: 1 };
  if (by === undefined) return { ...counted, tenant: undefined, butler };
  const own = by.butler !== "*" && (kind === "butler" || butler === undefined) ? by.butler : butler;
  return { ...counted, tenant: own === undefined ? undefined : tenantOf(by.tenant, own), butler: own };
}

async function writeDown({ home, log, tell }: BookParts, all: readonly Counted[]): Promise<void> {
  try {
    writeRefusals(home, all.map(lineOf));
  } catch (error) {
    log.error({ reason: reasonOf(error) }, "refusals could not be written down");
  }
  const told = all.flatMap(accessOf);
  for (const butler of new Set(told.map((one) => one.butler)))
    await tell(
      butler,
      told.filter((one) => one.butler === butler),
    ).catch((error: unknown) =>
      log.error({ butler, reason: reasonOf(error) }, "refusals could not be told to the stream"),
    );
}

const lineOf = ({ actor, tenant, butler, from, to, ...rest }: Counted): RefusalLine => ({
  ...{ from: from.toISOString(), to: to.toISOString(), ...rest },
  ...(actor === undefined ? {} : { actor }),
  ...(tenant === undefined ? {} : { tenant }),
  ...(butler === undefined ? {} : { butler }),
});

const accessOf = ({ actor, tenant, butler, ...rest }: Counted): RefusedAccess[] =>
  actor === undefined || tenant === undefined || butler === undefined ? [] : [{ ...rest, actor, tenant, butler }];
