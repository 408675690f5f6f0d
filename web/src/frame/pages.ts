/** The pages in the order of the rail, with the key that goes to each after `g`. */
export interface RailPage {
  readonly name: string;
  readonly path: string;
  readonly key: string;
}

export const PAGES: readonly RailPage[] = [
  { name: "Today", path: "", key: "t" },
  { name: "Search", path: "search", key: "s" },
  { name: "Facts", path: "facts", key: "f" },
  { name: "Rules", path: "rules", key: "r" },
  { name: "Episodes", path: "episodes", key: "e" },
  { name: "Sessions", path: "sessions", key: "n" },
  { name: "Preview", path: "preview", key: "p" },
  { name: "Changes", path: "changes", key: "c" },
  { name: "Activity", path: "activity", key: "a" },
  { name: "Runs", path: "runs", key: "u" },
  { name: "Health", path: "health", key: "h" },
  { name: "Settings", path: "settings", key: "," },
];

export const FLEET_PAGES: readonly RailPage[] = [
  { name: "Today", path: "", key: "t" },
  { name: "Search", path: "search", key: "s" },
  { name: "Activity", path: "activity", key: "a" },
  { name: "Health", path: "health", key: "h" },
];

/** One memory belongs to no page of the rail. */
export const isActive = (path: string, to: string, page: RailPage): boolean =>
  page.path === "" ? path.replace(/\/$/, "") === to : path === to || path.startsWith(`${to}/`);
