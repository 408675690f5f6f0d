/** What an agent would be told for a prompt: the block, its tokens, and what was left out of it and why. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { type ReactNode, useId } from "react";
import type { ApiPreview } from "../../../../src/doors/http/api/types.ts";
import { previewQuery, scopesQuery, sessionsQuery } from "../../api/queries.ts";
import { dayWords, endOf, useDay } from "../../frame/as-of.ts";
import { useLater } from "../../frame/later.ts";
import { useButler } from "../../frame/link.tsx";
import { usePageSearch, useSetSearch } from "../../frame/search-params.ts";
import { Chips } from "../../parts/chips.tsx";
import { Empty, ShortId } from "../../parts/empty.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Page, Section } from "../../parts/page.tsx";
import { counted, scopeWords } from "../../parts/words.ts";
import { InBlock } from "./in-block.tsx";
import { LeftOut } from "./left-out.tsx";
import styles from "./preview.module.css";
import { TokenBar } from "./token-bar.tsx";

const TYPING_MS = 450;
const DRAGGING_MS = 200;
/** Of the slider; the API takes more. */
const BUDGET = { least: 100, most: 8_000, step: 50, usual: 3_000 } as const;

function useAsked() {
  const { prompt = "", budget, project } = usePageSearch();
  const tokens = Number(budget);
  const isGiven = Number.isInteger(tokens) && tokens >= 1 && tokens <= 100_000;
  return { prompt, budget: isGiven ? tokens : undefined, project };
}

export function PreviewPage() {
  const butler = useButler() ?? "";
  const { prompt, budget, project } = useAsked();
  const day = useDay();
  const as_of = endOf(day);
  const body = {
    prompt: prompt.trim(),
    ...(budget === undefined ? {} : { token_budget: budget }),
    ...(as_of === undefined ? {} : { as_of }),
  };
  const { data, error, isFetching, refetch } = useQuery(previewQuery(butler, body, project));
  const block = body.prompt === "" ? undefined : data;
  return (
    <Page
      name={`${butler} · Preview`}
      sentence={sentenceOf(block, body.prompt, day)}
      aside={block?.degraded ?? "Nobody is told anything here: this only shows what a session would be given."}
    >
      <div className={styles.columns}>
        <Asking butler={butler} budget={budget ?? block?.budget ?? BUDGET.usual} />
        <Block
          block={block}
          isFetching={isFetching}
          isAsked={body.prompt !== ""}
          error={error}
          again={() => void refetch()}
        />
      </div>
      {block !== undefined && !error && (
        <>
          <Section title="Tokens">
            <TokenBar block={block} />
          </Section>
          <InBlock block={block} butler={butler} />
          <LeftOut block={block} butler={butler} />
        </>
      )}
    </Page>
  );
}

function sentenceOf(block: ApiPreview | undefined, prompt: string, day: string | undefined): ReactNode {
  const then = day === undefined ? "" : ` at the end of ${dayWords(day)}`;
  if (prompt === "") return `What would an agent be told${then}?`;
  if (block === undefined) return "Looking …";
  const memories = block.sections.reduce((sum, { items }) => sum + items.length, 0);
  const would = day === undefined ? "would be" : "would have been";
  if (memories === 0) return `Nothing ${would} told${then}.`;
  return (
    <>
      <a href="#told">{counted(memories, "memory")}</a> {would} told{then}, in {block.tokens.toLocaleString("en")} of{" "}
      {block.budget.toLocaleString("en")} tokens.
    </>
  );
}

function Asking({ butler, budget }: { readonly butler: string; readonly budget: number }) {
  const search = useAsked();
  const set = useSetSearch();
  const [prompt, setPrompt] = useLater(search.prompt, (value) => set({ prompt: value || undefined }, true), TYPING_MS);
  const [tokens, setTokens] = useLater(
    String(search.budget ?? budget),
    (value) => set({ budget: value }, true),
    DRAGGING_MS,
  );
  const id = useId();
  const { data } = useInfiniteQuery(sessionsQuery(butler));
  const sessions = data?.pages.flatMap((page) => page.sessions) ?? [];
  const { data: known } = useQuery(scopesQuery(butler));
  const own = known?.scopes.filter((scope) => scope.startsWith(`${butler}/`)).map(scopeWords) ?? [];
  const projects = [...new Set([search.project, ...own])].filter((one) => one !== undefined);
  const prompts = [...new Set(sessions.flatMap((session) => session.prompt ?? []))].slice(0, 3);
  return (
    <div className={styles.asking}>
      {projects.length > 0 && (
        <Chips
          filters={[
            { key: "project", label: "in", unset: "no project", options: projects.map((one) => [one, one] as const) },
          ]}
        />
      )}
      <label className={styles.label} htmlFor={`${id}-prompt`}>
        Prompt
      </label>
      <textarea
        id={`${id}-prompt`}
        className={styles.prompt}
        value={prompt}
        rows={7}
        maxLength={20_000}
        placeholder="What somebody might ask an agent …"
        onChange={(event) => setPrompt(event.target.value)}
      />
      {prompt === "" && prompts.length > 0 && (
        <div className={styles.earlier}>
          <span>Asked lately:</span>
          {prompts.map((one) => (
            <button key={one} type="button" onClick={() => setPrompt(one)}>
              {one}
            </button>
          ))}
        </div>
      )}
      <label className={styles.label} htmlFor={`${id}-budget`}>
        At most <output>{Number(tokens).toLocaleString("en")} tokens</output>
      </label>
      <input
        id={`${id}-budget`}
        type="range"
        className={styles.budget}
        min={BUDGET.least}
        max={Math.max(BUDGET.most, Number(tokens))}
        step={BUDGET.step}
        value={tokens}
        aria-valuetext={`${tokens} tokens`}
        onChange={(event) => setTokens(event.target.value)}
      />
    </div>
  );
}

interface BlockParts {
  readonly block: ApiPreview | undefined;
  readonly isFetching: boolean;
  readonly isAsked: boolean;
  readonly error: Error | null;
  readonly again: () => void;
}

function Block({ block, isFetching, isAsked, error, again }: BlockParts) {
  if (error) return <Failure error={error} again={again} />;
  if (!isAsked) return <Empty says="Write a prompt, and the block that an agent would be given appears here." />;
  if (block === undefined) return <Loading />;
  return (
    <figure className={styles.block} aria-busy={isFetching}>
      <figcaption>
        <span>The block, {counted(block.tokens, "token")}</span>
        <span title="The same memories and prompt give the same bytes, and so the same hash.">
          hash <ShortId id={block.hash} />
        </span>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keys. */}
      <pre tabIndex={0}>{block.text === "" ? "(empty: an agent would be told nothing)" : block.text}</pre>
    </figure>
  );
}
