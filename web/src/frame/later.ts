/** A value that follows what is typed or dragged, and is handed on after a pause. */
import { useEffect, useRef, useState } from "react";

/** `given` is what the address says: when it changes by itself (a link, the way back), the field follows it. */
export function useLater(
  given: string,
  hand: (value: string) => void,
  pauseMs: number,
): readonly [value: string, change: (value: string) => void] {
  const [value, setValue] = useState(given);
  const handed = useRef(given);
  const latest = useRef(hand);
  latest.current = hand;
  useEffect(() => {
    if (given === handed.current) return;
    handed.current = given;
    setValue(given);
  }, [given]);
  useEffect(() => {
    if (value === handed.current) return undefined;
    const timer = setTimeout(() => {
      handed.current = value;
      latest.current(value);
    }, pauseMs);
    return () => clearTimeout(timer);
  }, [value, pauseMs]);
  return [value, setValue];
}
