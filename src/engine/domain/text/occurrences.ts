/**
 * Every occurrence of any of many words in a text, in one pass (Aho and Corasick): the time grows with the text and the words
 * added up, whatever they look like, where a pattern for each would multiply it.
 */
const CODES = 0x10000;

/** One occurrence. True: shorter ones with the same end need not be told. */
export type Tell = (start: number, end: number) => boolean;

/** Told by their ends, of one end the longest first. */
export function occurrences(words: readonly string[]): (text: string, tell: Tell) => void {
  /** From a node over one code unit to the next: node and code in one number. */
  const next = new Map<number, number>();
  const lengths: number[] = [0];
  const nodes: { readonly parent: number; readonly code: number }[] = [{ parent: 0, code: 0 }];
  for (const word of new Set(words)) {
    let node = 0;
    for (let at = 0; at < word.length; at++) {
      const edge = node * CODES + word.charCodeAt(at);
      let to = next.get(edge);
      if (to === undefined) {
        to = nodes.length;
        nodes.push({ parent: node, code: word.charCodeAt(at) });
        lengths.push(0);
        next.set(edge, to);
      }
      node = to;
    }
    if (node > 0) lengths[node] = word.length;
  }
  const { fall, shorter } = links(next, nodes, lengths);

  return (text, tell) => {
    let node = 0;
    for (let at = 0; at < text.length; at++) {
      node = step(next, fall, node, text.charCodeAt(at));
      let found = (lengths[node] as number) > 0 ? node : (shorter[node] as number);
      while (found > 0 && !tell(at + 1 - (lengths[found] as number), at + 1)) found = shorter[found] as number;
    }
  };
}

function step(next: ReadonlyMap<number, number>, fall: Int32Array, from: number, code: number): number {
  for (let node = from; ; node = fall[node] as number) {
    const to = next.get(node * CODES + code);
    if (to !== undefined) return to;
    if (node === 0) return 0;
  }
}

/** `fall`: the longest end of what was read that is a beginning too. `shorter`: the next word that ends at the same position. */
function links(
  next: ReadonlyMap<number, number>,
  nodes: readonly { readonly parent: number; readonly code: number }[],
  lengths: readonly number[],
) {
  const fall = new Int32Array(nodes.length);
  const shorter = new Int32Array(nodes.length);
  for (const node of byDepth(nodes)) {
    const { parent, code } = nodes[node] as { parent: number; code: number };
    const to = parent === 0 ? 0 : step(next, fall, fall[parent] as number, code);
    fall[node] = to;
    shorter[node] = (lengths[to] as number) > 0 ? to : (shorter[to] as number);
  }
  return { fall, shorter };
}

/** A node is numbered after its parent, but not after everything that is less deep. */
function byDepth(nodes: readonly { readonly parent: number }[]): number[] {
  const depth = new Int32Array(nodes.length);
  const layers: number[][] = [];
  for (let node = 1; node < nodes.length; node++) {
    const deep = (depth[(nodes[node] as { parent: number }).parent] as number) + 1;
    depth[node] = deep;
    const layer = layers[deep];
    if (layer) layer.push(node);
    else layers[deep] = [node];
  }
  return layers.flat();
}
