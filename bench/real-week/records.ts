/** What is written down of a week with the real Claude Code; the page is made of nothing else. */
export interface PromptRecord {
  readonly prompt: string;
  /** The lines of our blocks that were in the first request after this prompt and in none before it in the session. */
  readonly told: readonly string[];
}

export interface SessionRecord {
  /** From 1, as in the week's file. */
  readonly session: number;
  readonly at: string;
  readonly prompts: readonly PromptRecord[];
}

export interface KnownMemory {
  readonly type: "fact" | "rule";
  /** Of a fact. */
  readonly subject?: string;
  readonly predicate?: string;
  readonly text: string;
  readonly state: string;
  /** Found by a reader that was not sure enough: kept back until it is said again. */
  readonly hint: boolean;
  readonly sureness?: number;
  /** The days on which it was said, and what the person said. */
  readonly sources: readonly { readonly day: string; readonly said: string }[];
  /** The text of what replaced it. */
  readonly replacedBy?: string;
}

export interface WeekRecords {
  /** The package that Claude Code came in. */
  readonly agent: string;
  readonly sessions: readonly SessionRecord[];
  /** On Friday evening. */
  readonly known: readonly KnownMemory[];
}
