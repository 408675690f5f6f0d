/** The table of peers. */
import { type Report, row } from "../figures.ts";
import type { PeerFigures } from "./measure.ts";
import type { Peer } from "./peer.ts";
import { type Standing, standingLines } from "./standings.ts";

export interface PeerResult extends Pick<Peer, "name" | "what" | "persists" | "embeds" | "needsServer" | "packages"> {
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
  /** For each that keeps what it stores: in what we are ahead of it. */
  readonly standings: readonly Standing[];
  readonly lost: readonly string[];
}

export function peerLines(report: PeersReport): string[] {
  const { n, questions, data, machine, model, peers, lost } = report;
  const measured = peers.flatMap(({ figures, ...peer }) => (figures === null ? [] : [{ ...peer, ...figures }]));
  const embeds = { itself: "itself", "a function it is given": "function", "a server it asks": "server" } as const;
  return [
    `${n.toLocaleString("en")} memories, ${questions} questions${data === null ? "" : ` of ${data}`}, ${model} for all, each in a process of its own, asked in turns`,
    "stored/s without the model, whose vectors of memories are made once for all; searches embed what they are asked; MB without a server's",
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
      "server's",
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
        peer.server_cpu_ms ?? "",
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
    ...measured.flatMap((peer) => shortOf(peer, n, questions)),
    ...peers.flatMap(({ name, reason }) => (reason === undefined ? [] : [`${name}: not measured: ${reason}`])),
    "",
    ...(measured.some(({ embeds }) => embeds === "itself")
      ? []
      : ["This program was not measured in this run: nothing is compared."]),
    ...standingLines(report.standings),
    ...(lost.length === 0 ? [] : ["Where we lose:", ...lost]),
  ];
}

/** What was left out because it would have taken too long, and what was given and not stored. */
function shortOf(
  { name, given, stored, search }: Pick<Peer, "name"> & PeerFigures,
  n: number,
  questions: number,
): string[] {
  return [
    ...(given < n ? [`${name}: was given ${given} of ${n} memories: filling was ended for its time`] : []),
    ...(stored < given ? [`${name}: holds ${stored} of the ${given} memories that it was given`] : []),
    ...(search.count < questions
      ? [`${name}: was asked ${search.count} of ${questions} questions: searching was ended for its time`]
      : []),
  ];
}
