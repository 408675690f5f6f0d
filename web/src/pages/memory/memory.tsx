/** One memory: the sentence large, its state and why, its life below, its sources and what came of it beside. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import type { ApiMemory } from "../../../../src/doors/http/api/types.ts";
import { memoryQuery } from "../../api/queries.ts";
import { endOf, useDay } from "../../frame/as-of.ts";
import { memoryHref, useButler } from "../../frame/link.tsx";
import { Actions } from "../../parts/actions.tsx";
import { FailedPage } from "../../parts/failure.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Page, Section } from "../../parts/page.tsx";
import { Chain } from "../facts/fact-line.tsx";
import { About } from "./about.tsx";
import { Life } from "./life.tsx";
import styles from "./memory.module.css";
import { WhyNow } from "./why-now.tsx";

const Graph = lazy(() => import("./graph.tsx"));
const Curve = lazy(() => import("./curve.tsx"));

export type Row = ApiMemory["memory"] & Readonly<Record<string, unknown>>;

export function MemoryPage() {
  const butler = useButler() ?? "";
  const { id = "" } = useParams({ strict: false }) as { id?: string };
  const as_of = endOf(useDay());
  const navigate = useNavigate();
  const { data, error, refetch } = useQuery(memoryQuery(butler, id, as_of));
  if (error) return <FailedPage name={`${butler} · Memory`} error={error} again={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  const { memory, links, chain } = data;
  const row = memory as Row;
  const isLinked = links.inbound.length + links.outbound.length > 0;
  const isFading = row.type !== "episode" && typeof row.confidence === "number";
  return (
    <Page
      name={`${butler} · ${clip(row.content ?? row.type)}`}
      sentence={<Sentence row={row} />}
      aside={<About row={row} recalled={data.recalled} butler={butler} />}
    >
      {as_of === undefined && (
        <Actions
          butler={butler}
          memory={{ type: row.type, id: row.id, state: row.state, content: row.content }}
          corrected={(holds) => void navigate({ to: memoryHref(butler, holds) })}
        />
      )}
      {row.type === "episode" && <EpisodeText row={row} />}
      <div className={styles.columns}>
        <Section title="Its life">
          <Life life={data.life} butler={butler} recalled={data.recalled} />
        </Section>
        <div>
          {isLinked && (
            <Section title="Where it comes from, what came of it">
              <Suspense fallback={<Loading lines={3} />}>
                <Graph memory={row} links={links} butler={butler} />
              </Suspense>
            </Section>
          )}
          {chain.length > 1 && (
            <Section title="Values over time">
              <Chain butler={butler} id={row.id} />
            </Section>
          )}
          {isFading && (
            <Section title="How sure">
              <Suspense fallback={<Loading lines={3} />}>
                <Curve row={row} at={as_of} />
              </Suspense>
            </Section>
          )}
          <Section title="Would it be told?">
            <WhyNow butler={butler} id={row.id} scope={row.scope} />
          </Section>
        </div>
      </div>
    </Page>
  );
}

const clip = (text: string): string => (text.length > 60 ? `${text.slice(0, 59)}…` : text);

const LONG = 400;
/** What is longer is set like a text: as a heading it would fill a telephone. */
const HEADING = 120;

function Sentence({ row }: { readonly row: Row }) {
  if (row.content === null) return <span className={styles.gone}>This {row.type} was forgotten.</span>;
  const text = row.type === "episode" ? String(row.summary ?? row.content) : row.content;
  return (
    <span className={styles.sentence} data-state={row.state} data-long={text.length > HEADING}>
      {row.type === "fact" && (
        <span className={styles.key}>
          {String(row.subject_text ?? row.subject)} · {String(row.predicate_text ?? row.predicate).replaceAll("_", " ")}
        </span>
      )}
      {text.length > LONG ? `${text.slice(0, LONG)}…` : text}
    </span>
  );
}

/** Of an episode the words as they were stored. */
function EpisodeText({ row }: { readonly row: Row }) {
  if (row.content === null || row.content.length <= LONG) return null;
  return (
    <details className={styles.whole}>
      <summary>The whole text ({row.content.length.toLocaleString("en")} characters)</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it with the keys. */}
      <pre tabIndex={0}>{row.content}</pre>
    </details>
  );
}
