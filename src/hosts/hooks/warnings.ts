/** The sentence that a session shows when memory does not answer. Which one depends on whether context can still follow. */

/** `BACK` is shown when memory answers again. */
export const withoutWords = (why: string): string =>
  `Butler Memory is unavailable (${plain(why)}); this session runs without it.`;

/** A slow or starting owner will answer the next prompt, and that answer brings the context that was missed. */
export const lateWords = (why: string): string =>
  `Butler Memory is unavailable for now (${plain(why)}); what it knows follows with a later prompt.`;

export const BACK = "Butler Memory is back: this session has it from here on.";

const plain = (why: string): string => why.replace(/\.$/, "");
