/** The table of peers, and in plain words where this program is behind. */
import { type Report, row } from "../figures.ts";
import type { PeerFigures } from "./measure.ts";
import type { Peer } from "./peer.ts";

export interface PeerResult extends Pick<Peer, "name" | "what" | "persists" | "embeds" | "packages"> {
  readonly figures: PeerFigures | null;
  /** Why there are no figures. */
  readonly reason?: string;
}

export interface PeersReport {
  readonly n: number;
  readonly questions: number;
  readonly data: string | null;
  readonly machine: Report["machine"];
  readonly model: string;
  readonly peers: readonly PeerResult[];
  readonly lost: readonly string[];
}

interface Contest {
  readonly name: string;
  readonly unit: string;
  of(figures: PeerFigures): number | null;
  readonly higher: boolean;
}

/** Times are compared to the model alone in the same process: the machine's pace changes between two peers. */
const CONTESTS: readonly Contest[] = [
  { name: "storing", unit: "memories a second", of: (f) => f.store_per_second, higher: true },
  { name: "a search, p50", unit: "× the model alone", of: (f) => f.times_floor.p50, higher: false },
  { name: "a search, p95", unit: "× the model alone", of: (f) => f.times_floor.p95, higher: false },
  { name: "eight at once", unit: "searches a second", of: (f) => f.per_second, higher: true },
  { name: "CPU a search, without a server's", unit: "ms", of: (f) => f.cpu_ms, higher: false },
  { name: "resident memory", unit: "MB", of: (f) => f.resident_mb, higher: false },
  { name: "recall@10", unit: "%", of: (f) => f.recall, higher: true },
];

/** A sentence for every figure in which somebody is ahead of us. */
export function lostTo(peers: readonly PeerResult[], us: string): string[] {
  const mine = peers.find(({ name }) => name === us)?.figures;
  if (mine == null) return [];
  return CONTESTS.flatMap(({ name, unit, of, higher }) => {
    const own = of(mine);
    if (own === null) return [];
    const ahead = peers.flatMap((peer) => {
      const theirs = peer.name.startsWith("Butler") || peer.figures === null ? null : of(peer.figures);
      if (theirs === null || (higher ? theirs <= own : theirs >= own)) return [];
      return [`${peer.name} ${theirs}${peer.persists ? "" : " (nothing is kept)"}`];
    });
    return ahead.length === 0 ? [] : [`${name}: ${own} ${unit}; ahead of us: ${ahead.join(", ")}.`];
  });
}

export function peerLines({ n, questions, data, machine, model, peers, lost }: PeersReport): string[] {
  const measured = peers.flatMap(({ figures, ...peer }) => (figures === null ? [] : [{ ...peer, ...figures }]));
  const embeds = { itself: "itself", "a function it is given": "function", "a server it asks": "server" } as const;
  return [
    `${n.toLocaleString("en")} memories, ${questions} questions${data === null ? "" : ` of ${data}`}, ${model} for all, each in a process of its own`,
    `${machine.cores} × ${machine.cpu}, Node ${machine.node}, load ${machine.load} at the start`,
    "",
    row([
      "",
      "stored/s",
      "p50 ms",
      "p95 ms",
      "model p50",
      "p50 ×",
      "p95 ×",
      "8 at once",
      "CPU ms",
      "MB",
      "recall",
      "kept",
      "embeds",
    ]),
    ...measured.map((peer) =>
      row([
        peer.name,
        peer.store_per_second,
        peer.search.p50,
        peer.search.p95,
        peer.floor.p50,
        peer.times_floor.p50,
        peer.times_floor.p95,
        peer.per_second,
        peer.cpu_ms,
        peer.resident_mb,
        peer.recall ?? "",
        peer.persists ? "yes" : "no",
        embeds[peer.embeds],
      ]),
    ),
    "",
    ...measured.map(({ name, what, packages }) => {
      const versions = Object.entries(packages).map(([of, version]) => `${of} ${version}`);
      return `${name}: ${[what, ...versions].join(", ")}`;
    }),
    ...peers.flatMap(({ name, reason }) => (reason === undefined ? [] : [`${name}: not measured: ${reason}`])),
    "",
    ...(measured.some(({ embeds }) => embeds === "itself")
      ? []
      : ["This program was not measured in this run: nothing is compared."]),
    ...(lost.length === 0 ? [] : ["Where we lose:", ...lost]),
  ];
}
