/** How sure a memory is now, and how that fades over the next 90 days if nobody confirms it. */
import styles from "./confidence.module.css";
import { percent } from "./words.ts";

export interface Fading {
  readonly confidence: number;
  readonly effective_confidence: number;
  readonly decay_per_day: number;
  readonly last_confirmed_at: string;
}

/** As the engine computes it: confidence · exp(−rate · days since it was confirmed). */
export const confidenceAt = ({ confidence, decay_per_day, last_confirmed_at }: Fading, at: number): number =>
  confidence * Math.exp(-decay_per_day * Math.max(0, (at - Date.parse(last_confirmed_at)) / 86_400_000));

/** Below this nothing is recalled; the contract's threshold. */
export const RECALLED = 0.2;
const AHEAD_DAYS = 90;
const POINTS = 18;
const WIDTH = 60;
const HEIGHT = 18;

export function Confidence({ of, from }: { readonly of: Fading; readonly from: number }) {
  const now = of.effective_confidence;
  const ahead = confidenceAt(of, from + AHEAD_DAYS * 86_400_000);
  const words = `${percent(now)} sure now, ${percent(ahead)} in ${AHEAD_DAYS} days if nobody confirms it`;
  return (
    <span className={styles.confidence} title={words} role="img" aria-label={words}>
      <svg className={styles.bar} viewBox="0 0 60 6" aria-hidden="true">
        <rect width="60" height="6" rx="3" className={styles.track} />
        <rect width={Math.max(1.5, 60 * now)} height="6" rx="3" className={now < RECALLED ? styles.low : styles.fill} />
      </svg>
      <Sparkline of={of} from={from} />
    </span>
  );
}

function Sparkline({ of, from }: { readonly of: Fading; readonly from: number }) {
  const points = Array.from({ length: POINTS }, (_, at) => {
    const share = at / (POINTS - 1);
    const value = confidenceAt(of, from + share * AHEAD_DAYS * 86_400_000);
    return `${(share * WIDTH).toFixed(1)},${(HEIGHT - 1 - value * (HEIGHT - 2)).toFixed(1)}`;
  });
  const threshold = HEIGHT - 1 - RECALLED * (HEIGHT - 2);
  return (
    <svg className={styles.curve} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <line x1="0" x2={WIDTH} y1={threshold} y2={threshold} className={styles.threshold} />
      <polyline points={points.join(" ")} className={styles.line} />
    </svg>
  );
}
