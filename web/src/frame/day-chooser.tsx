/** The day that the whole page looks at: a chip in the header, and a band while it is not now. */
import { Popover } from "radix-ui";
import { useState } from "react";
import { dayOf, dayWords, shortDay, useDay } from "./as-of.ts";
import styles from "./day-chooser.module.css";
import { A, butlerPath, useButler } from "./link.tsx";
import { useSetSearch } from "./search-params.ts";

const AGO: readonly (readonly [words: string, days: number])[] = [
  ["Yesterday", 1],
  ["A week ago", 7],
  ["A month ago", 30],
];

const daysAgo = (days: number): string => dayOf(new Date(Date.now() - days * 86_400_000));

export function DayChooser() {
  const day = useDay();
  const set = useSetSearch();
  const [open, setOpen] = useState(false);
  const choose = (chosen: string | undefined) => {
    set({ as_of: chosen === dayOf(new Date()) ? undefined : chosen });
    setOpen(false);
  };
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger className={styles.chip} data-past={day !== undefined}>
        {day === undefined ? (
          "now"
        ) : (
          <>
            <span className={styles.long}>{dayWords(day)}</span>
            <span className={styles.short}>{shortDay(day)}</span>
          </>
        )}{" "}
        <span aria-hidden>▾</span>
        <span className="visually-hidden">, choose a day to look at</span>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content className={styles.popover} align="end" sideOffset={6} aria-label="The day to look at">
          <p>What was known at the end of</p>
          <input
            type="date"
            aria-label="Day"
            className={styles.date}
            value={day ?? dayOf(new Date())}
            max={dayOf(new Date())}
            onChange={(event) => event.target.value !== "" && choose(event.target.value)}
          />
          <div className={styles.quick}>
            {AGO.map(([words, days]) => (
              <button key={words} type="button" onClick={() => choose(daysAgo(days))}>
                {words}
              </button>
            ))}
            <button type="button" onClick={() => choose(undefined)}>
              Now
            </button>
          </div>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

export function DayBand() {
  const day = useDay();
  const set = useSetSearch();
  const butler = useButler();
  if (day === undefined) return null;
  return (
    <div className={styles.band} role="status">
      <strong>As of {dayWords(day)}</strong>
      <button type="button" onClick={() => set({ as_of: undefined })}>
        back to now
      </button>
      {butler !== undefined && <A to={butlerPath(butler, "changes")}>what changed since</A>}
    </div>
  );
}
