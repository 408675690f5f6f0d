/** What a line of a transcript says, in one form for all agents. */
export type Step =
  /** A new request. `echo`: the transcript may hold a second record of the same prompt. */
  | {
      readonly kind: "prompt";
      readonly text: string;
      readonly at: string | undefined;
      readonly key: string;
      readonly echo?: boolean;
    }
  /** The person's words in the middle of an exchange. */
  | { readonly kind: "told"; readonly text: string }
  /** What the person chose or approved. */
  | { readonly kind: "decided"; readonly text: string }
  /** Pieces of one message have the same `message`; of several messages the last is kept. */
  | { readonly kind: "said"; readonly message: string; readonly text: string }
  /** `did` is left out for tools that only read. */
  | { readonly kind: "tool"; readonly id: string; readonly name: string; readonly did?: string | undefined }
  | { readonly kind: "failed"; readonly id: string; readonly why: string }
  /** A tool that was not allowed to run. */
  | { readonly kind: "refused"; readonly id: string }
  /** A command of the agent program: what follows is no answer to a prompt. */
  | { readonly kind: "command" };

/** Reads one line. `position` is its first byte, and the key of a prompt that has no id. */
export type LineReader = (line: Readonly<Record<string, unknown>>, position: number) => readonly Step[];
