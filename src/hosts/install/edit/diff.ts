/** The changed lines of a file, marked with - and +. */
export function diffLines(before: string | undefined, after: string | undefined): string[] {
  const old = lines(before);
  const next = lines(after);
  let start = 0;
  while (start < old.length && start < next.length && old[start] === next[start]) start++;
  let end = 0;
  while (
    end < old.length - start &&
    end < next.length - start &&
    old[old.length - 1 - end] === next[next.length - 1 - end]
  )
    end++;
  return changesOf(old.slice(start, old.length - end), next.slice(start, next.length - end));
}

function lines(text: string | undefined): string[] {
  if (text === undefined || text === "") return [];
  return text.replace(/\r?\n$/, "").split(/\r?\n/);
}

/** Leaves out the longest common subsequence of lines. Settings files are small, so a quadratic table is fast enough. */
function changesOf(old: readonly string[], next: readonly string[]): string[] {
  const longest = Array.from({ length: old.length + 1 }, () => new Uint32Array(next.length + 1));
  const at = (i: number, j: number) => longest[i]?.[j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--) {
    const row = longest[i];
    if (row === undefined) continue;
    for (let j = next.length - 1; j >= 0; j--)
      row[j] = old[i] === next[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  }
  const changes: string[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < next.length) {
    if (i < old.length && j < next.length && old[i] === next[j]) [i, j] = [i + 1, j + 1];
    else if (j >= next.length || (i < old.length && at(i + 1, j) >= at(i, j + 1))) changes.push(`- ${old[i++]}`);
    else changes.push(`+ ${next[j++]}`);
  }
  return changes;
}
