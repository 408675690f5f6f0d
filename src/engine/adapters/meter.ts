/**
 * The port for what is counted and timed while memory works. Who keeps the numbers is chosen in `main`. Labels have few values: names of
 * butlers, tools and codes, never words of a caller.
 */

/** How a call came in. `inside`: the owner itself, for openings and sessions that it prepares. */
export type Door = "http" | "pages" | "mcp" | "cli" | "hook" | "inside";

/** From 1 ms to 10 s; the limits of the promises (0.25 and 0.35 s) are among them, so that the share below them is exact. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.35, 0.5, 1, 2.5, 5, 10];
const TENTHS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];

export const HISTOGRAMS = {
  butler_tool_duration_seconds: {
    help: "Calls of tools at every door; error is the code of a failure, or empty.",
    labels: ["butler", "tool", "door", "error"],
    buckets: SECONDS,
  },
  mcp_server_operation_duration_seconds: {
    help: "Requests over MCP, named after its semantic conventions.",
    labels: ["mcp_method_name", "gen_ai_tool_name", "error_type"],
    buckets: SECONDS,
  },
  butler_returned_confidence: {
    help: "Effective confidence of each memory that a search or a context returned.",
    labels: ["butler", "kind"],
    buckets: TENTHS,
  },
  butler_returned_diversity: {
    help: "Distinct subjects among the memories of an answer, divided by their number.",
    labels: ["butler", "kind"],
    buckets: TENTHS,
  },
  butler_store_statement_seconds: {
    help: "Statements of the store, waiting for a connection included.",
    labels: ["butler"],
    buckets: SECONDS,
  },
  butler_embed_seconds: {
    help: "Texts that were turned into vectors.",
    labels: ["butler", "priority"],
    buckets: SECONDS,
  },
  butler_job_duration_seconds: {
    // Prometheus itself has a label named job.
    help: "Runs of jobs by how they ended.",
    labels: ["butler", "job_name", "state"],
    buckets: [0.1, 0.5, 1, 5, 15, 60, 300, 900, 1800, 3600],
  },
} as const satisfies Readonly<Record<string, Measure & { readonly buckets: readonly number[] }>>;

export const COUNTERS = {
  butler_retrievals_total: {
    help: "Searches and contexts by whether anything that fits was returned: fits or nothing.",
    labels: ["butler", "kind", "outcome"],
  },
  butler_store_errors_total: {
    help: "Statements that the store refused or did not answer.",
    labels: ["butler"],
  },
  butler_refusals_total: {
    help: "Requests that were turned away, by kind: token, butler, tenant, role, scope, rate and others.",
    labels: ["kind", "door"],
  },
  butler_hooks_total: {
    help: "Hooks of agents: told, late (the answer came too late), without (memory refused or failed).",
    labels: ["butler", "outcome"],
  },
} as const satisfies Readonly<Record<string, Measure>>;

export interface Measure {
  readonly help: string;
  readonly labels: readonly string[];
}

type LabelsOf<M extends Measure> = Readonly<Record<M["labels"][number], string>>;

export type HistogramName = keyof typeof HISTOGRAMS;
export type CounterName = keyof typeof COUNTERS;

export interface Meter {
  observe<N extends HistogramName>(name: N, labels: LabelsOf<(typeof HISTOGRAMS)[N]>, value: number): void;
  count<N extends CounterName>(name: N, labels: LabelsOf<(typeof COUNTERS)[N]>): void;
}

export const silentMeter: Meter = { observe: () => undefined, count: () => undefined };

/** Seconds since a moment of `performance.now()`. */
export const secondsSince = (started: number): number => (performance.now() - started) / 1_000;
