/** The one sentence a session hears when memory does not answer: which one depends on what comes after it. */

/** True as long as nothing follows; `BACK` takes it back. */
export const withoutWords = (why: string): string =>
  `Butler Memory is unavailable (${plain(why)}); this session runs without it.`;

/** An owner that is slow or still starting will be there for the next prompt, which then brings what was missed. */
export const lateWords = (why: string): string =>
  `Butler Memory is unavailable for now (${plain(why)}); what it knows follows with a later prompt.`;

export const BACK = "Butler Memory is back: this session has it from here on.";

const plain = (why: string): string => why.replace(/\.$/, "");
