/** The colours in force. Apart from theme.ts, which is run before anything else is loaded. */
import { useSyncExternalStore } from "react";

const DARK = "(prefers-color-scheme: dark)";

function onScheme(changed: () => void): () => void {
  const media = matchMedia(DARK);
  const observer = new MutationObserver(changed);
  media.addEventListener("change", changed);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme", "style"] });
  return () => {
    media.removeEventListener("change", changed);
    observer.disconnect();
  };
}

/** What is drawn on a canvas is drawn again when they change. */
export const useScheme = (): string =>
  useSyncExternalStore(onScheme, () => {
    const said = getComputedStyle(document.documentElement).colorScheme;
    return said.includes(" ") ? (matchMedia(DARK).matches ? "dark" : "light") : said;
  });
