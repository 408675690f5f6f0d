/** Numbers and names as people say them. */
export function counted(n: number, noun: string): string {
  const many = /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  return `${n.toLocaleString("en")} ${n === 1 ? noun : many}`;
}

const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
export const compact = (n: number): string => (n < 10_000 ? n.toLocaleString("en") : COMPACT.format(n));

export const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** Cents, and the first digits of what is less than one. */
export function dollars(usd: number): string {
  const digits = usd > 0 && usd < 0.01 ? 4 : 2;
  return `$${usd.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

/** The end of a random id or of a hash tells it apart from others; a name is shown as far as there is room. */
export const shortId = (id: string): string =>
  /^[0-9a-f-]{16,}$/.test(id) ? id.slice(-8) : id.length > 24 ? `${id.slice(0, 23)}…` : id;

/** "a, b and c" */
export function listed(parts: readonly string[]): string {
  return parts.length < 2 ? (parts[0] ?? "") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

/** `about:petra_approve_release` → `about`: what a reader added to keep keys apart says nothing that the value does not. */
export const predicateWords = (predicate: string): string =>
  predicate.replace(/^([^:]+):.+$/, "$1").replaceAll("_", " ");

export const SAID_BY: Readonly<Record<string, string>> = {
  user: "you said so",
  agent: "an agent said so",
  tool: "a tool’s output",
  imported: "imported",
};

export const PERMANENCE_WORDS: Readonly<Record<string, string>> = {
  permanent: "never fades",
  stable: "fades over years",
  standard: "fades over months",
  volatile: "fades over weeks",
  ephemeral: "fades over days",
};

/** `general/github.com/acme/shop` → the project; the scope itself is the title. */
export function scopeWords(scope: string): string {
  if (scope === "global") return "all butlers";
  const cut = scope.indexOf("/");
  return cut < 0 ? scope : projectWords(scope.slice(cut + 1));
}

/** `folder:shop-c83cbe7c`, the key of a folder without a repository, → `shop`. */
export const projectWords = (project: string): string =>
  project.startsWith("folder:") ? project.slice("folder:".length).replace(/-[0-9a-f]{8}$/, "") : project;

const ACTORS: Readonly<Record<string, string>> = {
  local: "you, at the command line",
  page: "you, on this page",
  agent: "an agent",
};
export const actorWords = (actor: string): string =>
  ACTORS[actor] ?? (actor.startsWith("job:") ? `the job ${actor.slice(4)}` : actor);
