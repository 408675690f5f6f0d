/** In plain words where this program is ahead of each peer, and where it is behind. */
import { round } from "../figures.ts";
import type { PeerResult } from "./figures.ts";
import type { PeerFigures } from "./measure.ts";

interface Contest {
  readonly name: string;
  readonly unit: string;
  of(figures: PeerFigures): number | null;
  readonly higher: boolean;
}

/** Milliseconds are of this run; beside the model alone in the same process they bear a change of the machine's pace between two peers. */
const SEARCH: Readonly<Record<string, readonly Contest[]>> = {
  p50: [
    { name: "a search, p50", unit: "ms", of: (f) => f.search.p50, higher: false },
    { name: "a search, p50", unit: "× the model alone", of: (f) => f.times_floor.p50, higher: false },
  ],
  p95: [
    { name: "a search, p95", unit: "ms", of: (f) => f.search.p95, higher: false },
    { name: "a search, p95", unit: "× the model alone", of: (f) => f.times_floor.p95, higher: false },
  ],
  "at once": [{ name: "eight at once", unit: "searches a second", of: (f) => f.per_second, higher: true }],
  recall: [{ name: "recall@10", unit: "%", of: (f) => f.recall, higher: true }],
};

const CONTESTS: readonly Contest[] = [
  ...Object.values(SEARCH).flat(),
  { name: "storing", unit: "memories a second", of: (f) => f.store_per_second, higher: true },
  {
    name: "CPU a search, with a server's",
    unit: "ms",
    of: (f) => round(f.cpu_ms + (f.server_cpu_ms ?? 0)),
    higher: false,
  },
  { name: "resident memory, without a server's", unit: "MB", of: (f) => f.resident_mb, higher: false },
];

const isOurs = ({ name }: PeerResult) => name.startsWith("Butler");
const isAhead = ({ higher }: Contest, own: number, theirs: number) => (higher ? own > theirs : own < theirs);

interface Compared {
  readonly what: string;
  /** Null where the figures do not agree: ahead in milliseconds and behind in proportion to the model, or the other way round. */
  readonly ahead: boolean | null;
  readonly figures: string;
}

export interface Standing {
  readonly us: string;
  readonly peer: string;
  readonly compared: readonly Compared[];
}

/** What we have on a server is held against what others have on a server; what is embedded against everybody that keeps what it stores. */
export function standings(peers: readonly PeerResult[], us: string): Standing[] {
  const own = peers.find(({ name }) => name === us);
  const mine = own?.figures;
  if (own === undefined || mine == null) return [];
  return peers.flatMap((peer) => {
    const { figures } = peer;
    if (isOurs(peer) || !peer.persists || figures === null || (own.needsServer && !peer.needsServer)) return [];
    const compared = Object.entries(SEARCH).flatMap(([what, contests]) => {
      const pairs = contests.flatMap((contest) => {
        const [a, b] = [contest.of(mine), contest.of(figures)];
        return a === null || b === null
          ? []
          : [{ ahead: isAhead(contest, a, b), said: `${a} to ${b} ${contest.unit}` }];
      });
      if (pairs.length === 0) return [];
      const all = new Set(pairs.map(({ ahead }) => ahead));
      const ahead = all.size === 1 ? all.has(true) : null;
      return [{ what, ahead, figures: pairs.map(({ said }) => said).join(", ") }];
    });
    return [{ us, peer: peer.name, compared }];
  });
}

const word = (ahead: boolean | null) => (ahead === null ? "in part" : ahead ? "yes" : "no");

export function standingLines(all: readonly Standing[]): string[] {
  return [...new Set(all.map(({ us }) => us))].flatMap((us) => {
    const own = all.filter((standing) => standing.us === us);
    const not = own.flatMap(({ peer, compared }) =>
      compared.filter(({ ahead }) => ahead !== true).map(({ what }) => `${what} of ${peer}`),
    );
    return [
      ...own.map(
        ({ peer, compared }) =>
          `${us}, ahead of ${peer}: ${compared.map(({ what, ahead, figures }) => `${what} ${word(ahead)} (${figures})`).join("; ")}`,
      ),
      `${us}, ahead of every peer that keeps what it stores: ${not.length === 0 ? "yes" : `no: ${not.join(", ")}`}`,
      "",
    ];
  });
}

/** A sentence for every figure in which somebody is ahead of us. */
export function lostTo(peers: readonly PeerResult[], us: string): string[] {
  const own = peers.find(({ name }) => name === us);
  const mine = own?.figures;
  if (own === undefined || mine == null) return [];
  const others = peers.filter((peer) => !isOurs(peer) && (!own.needsServer || peer.needsServer));
  return CONTESTS.flatMap((contest) => {
    const figure = contest.of(mine);
    if (figure === null) return [];
    const ahead = others.flatMap((peer) => {
      const theirs = peer.figures === null ? null : contest.of(peer.figures);
      if (theirs === null || !isAhead(contest, theirs, figure)) return [];
      return [`${peer.name} ${theirs}${peer.persists ? "" : " (nothing is kept)"}`];
    });
    return ahead.length === 0
      ? []
      : [`${us}, ${contest.name}: ${figure} ${contest.unit}; ahead of us: ${ahead.join(", ")}.`];
  });
}
