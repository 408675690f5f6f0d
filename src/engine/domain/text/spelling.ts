/** The name of these that is nearest in spelling, if it is near enough to be meant. */
export function nearest(name: string, among: readonly string[]): string | undefined {
  const ranked = among.map((key) => ({ key, distance: editDistance(plainName(name), plainName(key)) }));
  const best = ranked.sort((a, b) => a.distance - b.distance)[0];
  return best !== undefined && best.distance <= reachOf(name) ? best.key : undefined;
}

/** How many letters may be wrong. */
export const reachOf = (name: string): number => Math.max(2, Math.floor(name.length * 0.4));

export const plainName = (name: string): string => name.toLowerCase().replaceAll("-", "_");

/** Letters left out, put in, changed, or swapped with their neighbour. */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, (before[j - 2] ?? 0) + 1);
      row.push(least);
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
