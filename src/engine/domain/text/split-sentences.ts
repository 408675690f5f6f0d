/** The pieces between two ends of sentences; a piece that ends with an abbreviation goes on with the next one. */
export function splitSentences(text: string, ends: RegExp, abbreviated: RegExp): string[] {
  const found: string[] = [];
  let goesOn = false;
  for (const piece of text.split(ends)) {
    const part = piece.trim();
    if (part === "") continue;
    if (goesOn) found[found.length - 1] += ` ${part}`;
    else found.push(part);
    goesOn = abbreviated.test(part);
  }
  return found;
}
