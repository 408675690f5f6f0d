/** How long an episode is kept: one bar for each tier that it has reached, with the word. */
import type { ApiEpisode } from "../../../../src/doors/http/api/types.ts";
import { exactTime } from "../../parts/when.tsx";
import styles from "./episodes.module.css";

type Kept = Pick<ApiEpisode, "tier" | "expires_at" | "references">;

const BARS: Readonly<Record<ApiEpisode["tier"], number>> = { eden: 1, mid: 2, long: 3 };
export const TIER_WORDS: Readonly<Record<ApiEpisode["tier"], string>> = {
  eden: "new",
  mid: "used again",
  long: "used often",
};

export function Tier({ of: { tier, expires_at, references } }: { readonly of: Kept }) {
  const until = expires_at === null ? "kept for good" : `kept until ${exactTime(expires_at)} unless it is used`;
  const title = `Tier ${tier} (${TIER_WORDS[tier]}): recalled ${references} times, ${until}`;
  return (
    <span className={styles.tier} title={title}>
      <svg viewBox="0 0 14 15" width="14" height="15" aria-hidden="true">
        {[0, 1, 2].map((nth) => (
          <rect
            key={nth}
            y={11 - 5 * nth}
            width="14"
            height="3"
            rx="1"
            className={nth < BARS[tier] ? styles.filled : styles.hollow}
          />
        ))}
      </svg>
      {tier}
    </span>
  );
}
