/** Where there is no prompt yet: asks for what a session should know before it starts. Always the same words, so that the block is. */
export const OPENING_PROMPT = "Start of a session: who is the user, what are we working on, which rules apply?";
