/** Sources on the left, the memory in the middle, what came of it on the right: in layers, so that lines do not become a ball of wool. */
import { Graph as Layers, layout } from "@dagrejs/dagre";
import { useMemo } from "react";
import type { ApiMemory } from "../../../../src/doors/http/api/types.ts";
import { A, memoryHref } from "../../frame/link.tsx";
import { factValue, Told } from "../../parts/told.tsx";
import styles from "./memory.module.css";
import type { Row } from "./memory.tsx";

type Links = ApiMemory["links"];
type End = Links["outbound"][number];

interface GraphParts {
  readonly memory: Row;
  readonly links: Links;
  readonly butler: string;
}

const WIDTH = 168;
const HEIGHT = 58;
/** More of them are listed below the picture. */
const MOST = 8;

const WORDS: Readonly<Record<string, readonly [out: string, into: string]>> = {
  derived_from: ["learned from", "taught"],
  supports: ["says the same as", "also said by"],
  contradicts: ["contradicts", "contradicted by"],
  supersedes: ["replaced", "replaced by"],
  related_to: ["related to", "related to"],
};

const wordsOf = ({ relation }: End, isOut: boolean): string => WORDS[relation]?.[isOut ? 0 : 1] ?? relation;

/** What this one rests on stands left: an outbound link points to a source, but one to what it replaced too. */
const isSource = (end: End, isOut: boolean): boolean => (end.relation === "supports" ? !isOut : isOut);

interface Placed {
  readonly end: End;
  readonly words: string;
  readonly isLeft: boolean;
}

const Graph = ({ memory, links, butler }: GraphParts) => {
  const all: readonly Placed[] = useMemo(
    () =>
      [
        ...links.outbound.map((end) => ({ end, words: wordsOf(end, true), isLeft: isSource(end, true) })),
        ...links.inbound.map((end) => ({ end, words: wordsOf(end, false), isLeft: isSource(end, false) })),
      ].filter(({ end }, at, list) => list.findIndex((other) => other.end.id === end.id) === at),
    [links],
  );
  const drawn = useMemo(
    () => [...all.filter(({ isLeft }) => isLeft).slice(0, MOST), ...all.filter(({ isLeft }) => !isLeft).slice(0, MOST)],
    [all],
  );
  const graph = useMemo(() => laidOut(memory.id, drawn), [memory.id, drawn]);
  const rest = all.filter((one) => !drawn.includes(one));
  return (
    <>
      <div className={styles.graph}>
        <svg
          viewBox={`0 0 ${graph.width} ${graph.height}`}
          width={graph.width}
          height={graph.height}
          role="img"
          aria-label={`${drawn.length} memories are linked with this one; they are listed after the picture.`}
        >
          {graph.edges.map(({ key, points, words, isDoubt }) => (
            <polyline key={key} points={points} className={styles.edge} data-doubt={isDoubt}>
              <title>{words}</title>
            </polyline>
          ))}
          <Node x={graph.self.x} y={graph.self.y} text="this memory" isSelf />
          {graph.nodes.map(({ x, y, placed }) => (
            <Node
              key={placed.end.id}
              x={x}
              y={y}
              text={
                placed.end.text === null
                  ? "(gone)"
                  : placed.end.type === "fact"
                    ? factValue(placed.end.text)
                    : placed.end.text
              }
            />
          ))}
        </svg>
      </div>
      <ul className={styles.ends}>
        {[...drawn, ...rest].map(({ end, words }) => (
          <li key={end.id} data-state={end.state ?? "gone"}>
            <span>{words}</span>{" "}
            <A to={memoryHref(butler, end.id)}>
              {end.text === null ? `a ${end.type} that is gone` : <Told text={end.text} isFact={end.type === "fact"} />}
            </A>
          </li>
        ))}
      </ul>
    </>
  );
};

// biome-ignore lint/style/noDefaultExport: React.lazy loads a default export.
export default Graph;

function laidOut(self: string, drawn: readonly Placed[]) {
  const graph = new Layers();
  graph.setGraph({ rankdir: "LR", nodesep: 12, ranksep: 56, marginx: 2, marginy: 2 });
  graph.setDefaultEdgeLabel(() => ({}));
  graph.setNode(self, { width: WIDTH, height: HEIGHT });
  for (const { end, isLeft } of drawn) {
    graph.setNode(end.id, { width: WIDTH, height: HEIGHT });
    if (isLeft) graph.setEdge(end.id, self);
    else graph.setEdge(self, end.id);
  }
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  const at = (id: string) => graph.node(id) as { x: number; y: number };
  return {
    width: Math.max(width, WIDTH),
    height: Math.max(height, HEIGHT),
    self: at(self),
    nodes: drawn.map((placed) => ({ ...at(placed.end.id), placed })),
    edges: drawn.map(({ end, isLeft, words }) => {
      const edge = graph.edge(isLeft ? end.id : self, isLeft ? self : end.id) as { points: { x: number; y: number }[] };
      return {
        key: end.id,
        words,
        isDoubt: end.relation === "contradicts",
        points: edge.points.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" "),
      };
    }),
  };
}

interface NodeParts {
  readonly x: number;
  readonly y: number;
  readonly text: string;
  readonly isSelf?: boolean;
}

const LINE = 23;

/** Two lines, broken between words; a longer word is cut. */
function linesOf(text: string): string[] {
  const words = text.split(/\s+/).map((word) => (word.length > LINE ? `${word.slice(0, LINE - 1)}…` : word));
  const lines = [""];
  for (const word of words) {
    const last = lines.at(-1) ?? "";
    if (last === "") lines[lines.length - 1] = word;
    else if (last.length + 1 + word.length <= LINE) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  const [first = "", second, ...more] = lines;
  if (second === undefined) return [first];
  return [first, more.length === 0 ? second : `${second.slice(0, LINE - 2)} …`];
}

function Node({ x, y, text, isSelf = false }: NodeParts) {
  const lines = linesOf(text);
  return (
    <g transform={`translate(${x - WIDTH / 2} ${y - HEIGHT / 2})`} className={styles.node} data-self={isSelf}>
      <rect width={WIDTH} height={HEIGHT} rx="8" />
      {lines.map((line, at) => (
        <text key={line} x="10" y={lines.length === 1 ? 33 : 25 + 17 * at}>
          {line}
        </text>
      ))}
    </g>
  );
}
