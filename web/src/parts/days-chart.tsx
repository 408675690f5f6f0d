/** Thirty days of learning; each column leads to its day. */
import type { ApiToday } from "../../../src/doors/http/api/types.ts";
import { dayWords, shortDay } from "../frame/as-of.ts";
import { A } from "../frame/link.tsx";
import styles from "./days-chart.module.css";
import { counted, listed } from "./words.ts";

type Day = ApiToday["days"][number];
const KINDS = ["learned", "confirmed", "superseded", "forgotten"] as const;

const wordsOf = (day: Day): string => {
  const parts = KINDS.filter((kind) => day[kind] > 0).map((kind) => `${day[kind]} ${kind}`);
  return `${dayWords(day.day)}: ${parts.length === 0 ? "nothing" : listed(parts)}`;
};

const range = (days: readonly Day[]): string => {
  const [first, last] = [days[0], days.at(-1)];
  return first === undefined || last === undefined ? "" : `${shortDay(first.day)} to ${shortDay(last.day)}`;
};

export function DaysChart({ days, to }: { readonly days: readonly Day[]; readonly to: string }) {
  const most = Math.max(1, ...days.map((day) => KINDS.reduce((sum, kind) => sum + day[kind], 0)));
  const total = days.reduce((sum, day) => sum + day.learned, 0);
  return (
    <figure className={styles.chart}>
      <div className={styles.columns}>
        {days.map((day) => (
          <A
            key={day.day}
            to={to}
            search={{ day: day.day }}
            className={styles.column}
            title={wordsOf(day)}
            aria-label={wordsOf(day)}
          >
            {KINDS.toReversed().map((kind) => (
              <span key={kind} data-kind={kind} style={{ height: `${(100 * day[kind]) / most}%` }} />
            ))}
          </A>
        ))}
      </div>
      <figcaption className={styles.caption}>
        <span>
          {range(days)}: {counted(total, "thing")} learned
        </span>
        <span className={styles.legend}>
          {KINDS.map((kind) => (
            <span key={kind}>
              <i data-kind={kind} /> {kind}
            </span>
          ))}
        </span>
      </figcaption>
    </figure>
  );
}
