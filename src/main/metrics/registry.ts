/** The numbers of this process in the format of Prometheus. Loaded by `butler up` alone: an owner in the background serves no port. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Standing } from "../../doors/backend.ts";
import type { MetricsDoor } from "../../doors/http/metrics-route.ts";
import { COUNTERS, HISTOGRAMS, type Meter } from "../../engine/adapters/meter.ts";
import { GAUGES } from "./gauges.ts";

export interface MetricsSource {
  standings(): Promise<readonly Standing[]>;
  now(): Date;
  /** Calls that have not been answered yet. */
  inFlight(): number;
}

export interface Metrics {
  readonly meter: Meter;
  door(source: MetricsSource, open: boolean): MetricsDoor;
}

export function openMetrics(version: string): Metrics {
  const register = new Registry();
  // By default it looks every 10 ms, also while nothing happens.
  collectDefaultMetrics({ register, eventLoopMonitoringPrecision: 20 });
  new Gauge({ name: "butler_build_info", help: "The running version.", labelNames: ["version"], registers: [register] })
    .labels(version)
    .set(1);
  return { meter: meterIn(register), door: (source, open) => ({ open, read: reader(register, source) }) };
}

function meterIn(register: Registry): Meter {
  const registers = [register];
  const histograms = new Map(
    Object.entries(HISTOGRAMS).map(([name, { help, labels, buckets }]) => [
      name,
      new Histogram({ name, help, labelNames: [...labels], buckets: [...buckets], registers }),
    ]),
  );
  const counters = new Map(
    Object.entries(COUNTERS).map(([name, { help, labels }]) => [
      name,
      new Counter({ name, help, labelNames: [...labels], registers }),
    ]),
  );
  return {
    observe: (name, labels, value) => histograms.get(name)?.observe(labels, value),
    count: (name, labels) => counters.get(name)?.inc(labels),
  };
}

/** Two who ask at the same time get one answer: the gauges are filled anew for each. */
function reader(register: Registry, source: MetricsSource): MetricsDoor["read"] {
  const registers = [register];
  const gauges = Object.entries(GAUGES).map(([name, { help, labels, counter, points }]) => {
    const kind = counter ? Counter : Gauge;
    return { metric: new kind({ name, help, labelNames: [...labels], registers }), points };
  });
  const underWay = new Gauge({ name: "butler_calls_under_way", help: "Calls that wait for their answer.", registers });
  const looked = new Gauge({
    name: "butler_scheduler_last_look_seconds",
    help: "Seconds since the scheduler looked at the schedules.",
    labelNames: [],
    registers,
  });
  let reading: Promise<{ type: string; text: string }> | undefined;
  const read = async () => {
    const standings = await source.standings();
    const now = source.now();
    for (const { metric, points } of gauges) {
      metric.reset();
      for (const { labels, value } of standings.flatMap((standing) => points(standing, now))) metric.inc(labels, value);
    }
    underWay.set(source.inFlight());
    looked.remove();
    const seconds = standings[0]?.measured.looked_seconds;
    if (seconds !== undefined) looked.set(seconds);
    return { type: register.contentType, text: await register.metrics() };
  };
  return () => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
}
