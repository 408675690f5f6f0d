/** What the day has cost, against what it may cost. */
import styles from "./spend.module.css";
import { dollars, percent } from "./words.ts";

export function Spend({ spend }: { readonly spend: { readonly today_usd: number; readonly cap_usd: number } }) {
  const { today_usd: spent, cap_usd: cap } = spend;
  const share = cap === 0 ? 0 : Math.min(1, spent / cap);
  return (
    <div className={styles.spend}>
      <p>{spendWords(spent, cap)}</p>
      {cap > 0 && (
        <svg
          className={styles.bar}
          viewBox="0 0 100 6"
          preserveAspectRatio="none"
          role="img"
          aria-label={`${percent(share)} of the cap`}
        >
          <rect width="100" height="6" className={styles.track} />
          <rect
            width={share === 0 ? 0 : Math.max(1, 100 * share)}
            height="6"
            className={share >= 1 ? styles.full : styles.fill}
          />
        </svg>
      )}
    </div>
  );
}

function spendWords(spent: number, cap: number): string {
  if (cap === 0) return `Learning may cost nothing: the cap is ${dollars(0)} a day.`;
  if (spent === 0) return `Learning has cost nothing today, of at most ${dollars(cap)}.`;
  if (spent >= cap)
    return `Learning has cost ${dollars(spent)} today: the cap of ${dollars(cap)} is reached, and it goes on tomorrow.`;
  return `Learning has cost ${dollars(spent)} today, of at most ${dollars(cap)}.`;
}
