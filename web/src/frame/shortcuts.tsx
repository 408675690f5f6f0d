/** The keys. None works while somebody types, and none is needed. */
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { useDay } from "./as-of.ts";
import { butlerPath } from "./link.tsx";
import { FLEET_PAGES, PAGES } from "./pages.ts";
import styles from "./shortcuts.module.css";

const HELP = "keys-and-help";

export const openHelp = (): void => {
  const dialog = document.getElementById(HELP);
  if (dialog instanceof HTMLDialogElement && !dialog.open) dialog.showModal();
};

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName));

/** The rows of the list on this page, as far as they are drawn. */
function step(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-row]")];
  const at = rows.findIndex((row) => row === document.activeElement || row.contains(document.activeElement));
  const next = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : at + by];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

export function Shortcuts({ butler }: { readonly butler: string | undefined }) {
  const navigate = useNavigate();
  const day = useDay();
  const wentG = useRef(0);
  const pages = butler === undefined ? FLEET_PAGES : PAGES;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector("dialog[open]") !== null) return;
      const afterG = performance.now() - wentG.current < 1_500;
      const page = afterG ? pages.find(({ key }) => key === event.key) : undefined;
      wentG.current = event.key === "g" ? performance.now() : 0;
      if (page !== undefined) {
        event.preventDefault();
        const to = butler === undefined ? `/memory/${page.path}`.replace(/\/$/, "") : butlerPath(butler, page.path);
        void navigate({ to, search: (day === undefined ? {} : { as_of: day }) as never });
      } else if (event.key === "/") {
        event.preventDefault();
        document.getElementById("search")?.focus();
      } else if (event.key === "?") openHelp();
      else if (event.key === "j") step(1);
      else if (event.key === "k") step(-1);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [navigate, butler, day, pages]);
  return (
    <dialog id={HELP} className={styles.help} aria-labelledby="help-title">
      <form method="dialog" className={styles.head}>
        <h2 id="help-title">Keys</h2>
        <button type="submit" className={styles.close} aria-label="Close">
          ×
        </button>
      </form>
      <dl className={styles.keys}>
        <Key keys={["/"]} does="search" />
        <Key keys={["j", "k"]} does="next and previous in a list; Enter opens" />
        {pages.map(({ name, key }) => (
          <Key key={name} keys={["g", key]} does={name} />
        ))}
        <Key keys={["?"]} does="this help" />
        <Key keys={["F8"]} does="to the words about what was just done, with Undo" />
      </dl>
    </dialog>
  );
}

function Key({ keys, does }: { readonly keys: readonly string[]; readonly does: string }) {
  return (
    <div>
      <dt>
        {keys.map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dt>
      <dd>{does}</dd>
    </div>
  );
}
