/** The one sentence a session hears when it has to do without memory. */
export const unavailableWords = (why: string): string =>
  `Butler Memory is unavailable (${why.replace(/\.$/, "")}); this session runs without it.`;
