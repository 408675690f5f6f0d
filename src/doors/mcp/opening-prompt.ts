/** Stands for the prompt where there is none yet: asks for what a session should know before it starts. Constant, so that the context block is stable. */
export const OPENING_PROMPT = "Start of a session: who is the user, what are we working on, which rules apply?";
