/** A list of any length: only what is in sight is drawn, and the next page is asked for before its end comes up. */
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import styles from "./long-list.module.css";

interface LongListParts<T> {
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string;
  /** A guess in pixels; each row is measured when it is drawn. */
  readonly height: number;
  readonly render: (row: T, at: number) => ReactNode;
  readonly hasMore: boolean;
  readonly isFetching: boolean;
  readonly more: () => unknown;
  readonly label: string;
}

const AHEAD = 15;

export function LongList<T>({ rows, keyOf, height, render, hasMore, isFetching, more, label }: LongListParts<T>) {
  const list = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => setTop(list.current?.offsetTop ?? 0), []);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => height,
    overscan: 12,
    scrollMargin: top,
    getItemKey: (at) => {
      const row = rows[at];
      return row === undefined ? at : keyOf(row);
    },
  });
  const shown = virtual.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && !isFetching && last >= rows.length - AHEAD) more();
  }, [hasMore, isFetching, last, rows.length, more]);
  return (
    <div ref={list}>
      {/* biome-ignore lint/a11y/useSemanticElements: rows that are not drawn are missing, so their number and place are told by the roles. */}
      <div role="list" aria-label={label} className={styles.list} style={{ height: virtual.getTotalSize() }}>
        {shown.map((item) => {
          const row = rows[item.index];
          return row === undefined ? null : (
            // biome-ignore lint/a11y/useSemanticElements: as above.
            <div
              role="listitem"
              key={item.key}
              ref={virtual.measureElement}
              data-index={item.index}
              aria-posinset={item.index + 1}
              aria-setsize={hasMore ? -1 : rows.length}
              className={styles.item}
              style={{ transform: `translateY(${item.start - top}px)` }}
            >
              {render(row, item.index)}
            </div>
          );
        })}
      </div>
      {isFetching && hasMore && (
        <p className={styles.more} role="status">
          Loading more …
        </p>
      )}
    </div>
  );
}
