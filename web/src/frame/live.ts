/** Follows what happens while the page is open: what is shown is asked for again, at most once a second. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { memoryPath } from "../api/client.ts";

const CALM_MS = 1_000;

export function useLive(butler: string | undefined): void {
  const client = useQueryClient();
  useEffect(() => {
    if (butler === undefined) return undefined;
    let waiting: ReturnType<typeof setTimeout> | undefined;
    const source = new EventSource(memoryPath(butler, "activity/live"));
    source.addEventListener("change", () => {
      waiting ??= setTimeout(() => {
        waiting = undefined;
        void client.invalidateQueries({ queryKey: ["butler", butler] });
        void client.invalidateQueries({ queryKey: ["fleet"] });
      }, CALM_MS);
    });
    return () => {
      source.close();
      clearTimeout(waiting);
    };
  }, [butler, client]);
}
