/** Our own context block, quoted back in a transcript, is not news: it is taken out before anything is learned. */
const BLOCK = /<\s*butler-memory\s*>[\s\S]*?(?:<\s*\/\s*butler-memory\s*>|$)/gi;
const STRAY = /<\s*\/?\s*butler-memory\s*>/gi;

export function withoutOwnBlock(text: string): string {
  return text.replace(BLOCK, " ").replace(STRAY, " ").trim();
}
