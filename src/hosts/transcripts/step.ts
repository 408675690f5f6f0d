/** What happens in a transcript, whichever agent wrote it. */
export type Step =
  /** Something new is asked for. `echo`: another record of the same prompt may stand beside it. */
  | {
      readonly kind: "prompt";
      readonly text: string;
      readonly at: string | undefined;
      readonly key: string;
      readonly echo?: boolean;
    }
  /** The person's own words in the middle of an exchange. */
  | { readonly kind: "told"; readonly text: string }
  /** What the person chose or approved. */
  | { readonly kind: "decided"; readonly text: string }
  /** Pieces of one message share its name; of several messages the last is kept. */
  | { readonly kind: "said"; readonly message: string; readonly text: string }
  /** `did` is left out for what only looks. */
  | { readonly kind: "tool"; readonly id: string; readonly name: string; readonly did?: string | undefined }
  | { readonly kind: "failed"; readonly id: string; readonly why: string }
  /** A tool that was not allowed to run. */
  | { readonly kind: "refused"; readonly id: string }
  /** A command of the host: what follows was not asked for in words. */
  | { readonly kind: "command" };

/** Reads one line. `place` is where it begins, and names a prompt that has no name of its own. */
export type LineReader = (line: Readonly<Record<string, unknown>>, place: number) => readonly Step[];
