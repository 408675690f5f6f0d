/** How sure the memory was and will be: from its birth to 180 days ahead, if nobody confirms it. */
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useScheme } from "../../frame/scheme.ts";
import { confidenceAt, type Fading, RECALLED } from "../../parts/confidence.tsx";
import { percent } from "../../parts/words.ts";
import styles from "./memory.module.css";
import type { Row } from "./memory.tsx";

const DAY_MS = 86_400_000;
const AHEAD_DAYS = 180;
const POINTS = 120;
const HEIGHT = 170;
const ASCENDING = 1;

const fadingOf = (row: Row): Fading => ({
  confidence: Number(row.confidence),
  effective_confidence: Number(row.effective_confidence ?? row.confidence),
  decay_per_day: Number(row.decay_rate ?? 0),
  last_confirmed_at: String(row.last_confirmed_at ?? row.created_at),
});

const Curve = ({ row, at }: { readonly row: Row; readonly at: string | undefined }) => {
  const box = useRef<HTMLDivElement>(null);
  const fading = fadingOf(row);
  const now = at === undefined ? Date.now() : Date.parse(at);
  const until = daysUntil(fading, now);
  const scheme = useScheme();
  useEffect(() => {
    const place = box.current;
    if (place === null) return undefined;
    place.style.colorScheme = scheme;
    const plot = drawn(place, fadingOf(row), now);
    const observer = new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height: HEIGHT }));
    observer.observe(place);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [row, now, scheme]);
  return (
    <figure>
      <div ref={box} className={styles.curve} aria-hidden="true" />
      <figcaption className={styles.by}>
        {percent(fading.effective_confidence)} sure now. {until}
      </figcaption>
    </figure>
  );
};

// biome-ignore lint/style/noDefaultExport: React.lazy loads a default export.
export default Curve;

function daysUntil(fading: Fading, now: number): string {
  if (fading.decay_per_day === 0) return "It never fades.";
  const days =
    Math.log(fading.confidence / RECALLED) / fading.decay_per_day -
    (now - Date.parse(fading.last_confirmed_at)) / DAY_MS;
  return days <= 0
    ? `Below ${percent(RECALLED)} it is told to nobody until it is confirmed.`
    : `If nobody confirms it, it is told for another ${Math.ceil(days).toLocaleString("en")} days.`;
}

function drawn(place: HTMLElement, fading: Fading, now: number): uPlot {
  const from = Math.min(Date.parse(fading.last_confirmed_at), now);
  const to = now + AHEAD_DAYS * DAY_MS;
  const times = Array.from({ length: POINTS }, (_, n) => from + ((to - from) * n) / (POINTS - 1));
  const style = getComputedStyle(place);
  const colour = (name: string) => style.getPropertyValue(name).trim() || style.color;
  const axis = {
    stroke: style.color,
    grid: { stroke: "transparent" },
    ticks: { show: false },
    font: `12px ${style.fontFamily}`,
  };
  return new uPlot(
    {
      width: place.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { y: false },
      scales: { y: { range: [0, 1] } },
      axes: [axis, { ...axis, values: (_, ticks) => ticks.map((tick) => percent(tick)), size: 48 }],
      series: [
        {},
        { stroke: style.color, width: 2, points: { show: false }, sorted: ASCENDING },
        { stroke: colour("accent-color"), dash: [4, 4], points: { show: false } },
        { stroke: "transparent", points: { show: true, size: 9, fill: style.color }, sorted: ASCENDING },
      ],
    },
    [
      times.map((time) => time / 1_000),
      times.map((time) => confidenceAt(fading, time)),
      times.map(() => RECALLED),
      times.map((time, n) => (n === nearest(times, now) ? confidenceAt(fading, time) : null)),
    ],
    place,
  );
}

const nearest = (times: readonly number[], now: number): number =>
  times.reduce((best, time, at) => (Math.abs(time - now) < Math.abs((times[best] ?? 0) - now) ? at : best), 0);
