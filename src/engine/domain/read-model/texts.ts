/**
 * Texts that thousands of rows have in common, such as sessions, speakers and scopes: each is kept once, under a number, for as long as a row
 * has it. Kept for ever, the names of all sessions that an owner ever met would stay after their episodes were gone.
 */
export interface Texts {
  /** Its number; to be given back with `leave` as often as it was taken. */
  take(text: string | null): number;
  leave(code: number): void;
  at(code: number): string | null;
  /** How many there are. */
  size(): number;
}

/** The number of no text. */
const NONE = 0;

export function openTexts(): Texts {
  const codes = new Map<string, number>();
  const texts: (string | null)[] = [null];
  /** How often each is taken. */
  const uses: number[] = [0];
  const free: number[] = [];
  return {
    take(text) {
      if (text === null) return NONE;
      const known = codes.get(text);
      if (known !== undefined) {
        uses[known] = (uses[known] as number) + 1;
        return known;
      }
      const code = free.pop() ?? texts.length;
      texts[code] = text;
      uses[code] = 1;
      codes.set(text, code);
      return code;
    },
    leave(code) {
      if (code === NONE) return;
      const left = (uses[code] as number) - 1;
      uses[code] = left;
      if (left > 0) return;
      codes.delete(texts[code] as string);
      texts[code] = null;
      free.push(code);
    },
    at: (code) => texts[code] as string | null,
    size: () => codes.size,
  };
}
