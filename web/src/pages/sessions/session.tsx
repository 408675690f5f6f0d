/** One session: what the agent was told, what happened, what was learned, and where its words come from. */
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useRef } from "react";
import type { ApiOneSession } from "../../../../src/doors/http/api/types.ts";
import { ApiError } from "../../api/client.ts";
import { oneSessionQuery } from "../../api/queries.ts";
import { useButler } from "../../frame/link.tsx";
import { useSetSearch } from "../../frame/search-params.ts";
import { ShortId } from "../../parts/empty.tsx";
import { EventLine } from "../../parts/event-line.tsx";
import { FailedPage } from "../../parts/failure.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Page, Section } from "../../parts/page.tsx";
import { UndoWhatCame } from "../../parts/undo.tsx";
import { When } from "../../parts/when.tsx";
import { counted, dollars, listed, projectWords } from "../../parts/words.ts";
import { Happened } from "./happened.tsx";
import { AskSelection } from "./selection.tsx";
import { Standing } from "./session-line.tsx";
import { type Session, sessionWords, toldWords } from "./session-words.ts";
import styles from "./sessions.module.css";
import { ToldMemories } from "./told.tsx";
import { UnknownSession } from "./unknown-session.tsx";
import { WhereFrom } from "./where-from.tsx";

export function SessionPage() {
  const butler = useButler() ?? "";
  const { id = "" } = useParams({ strict: false }) as { id?: string };
  const { data, error, refetch, isPlaceholderData } = useQuery(oneSessionQuery(butler, id));
  if (error instanceof ApiError && error.status === 404)
    return <UnknownSession butler={butler} id={id} error={error} />;
  if (error) return <FailedPage name={`${butler} · Session`} error={error} again={() => void refetch()} />;
  if (data === undefined || isPlaceholderData) return <Loading />;
  return <Known key={id} butler={butler} data={data} />;
}

function Known({ butler, data }: { readonly butler: string; readonly data: ApiOneSession }) {
  const { session, told, stored, learned } = data;
  const set = useSetSearch();
  const answer = useRef<HTMLDivElement>(null);
  const ask = (said: string) => {
    set({ said });
    answer.current?.scrollIntoView({ block: "start" });
    answer.current?.focus({ preventScroll: true });
  };
  return (
    <Page
      name={`${butler} · ${sessionWords(session)}`}
      sentence={sentenceOf(data)}
      aside={<About butler={butler} session={session} />}
    >
      <AskSelection ask={ask}>
        <div ref={answer} className={styles.answer} tabIndex={-1}>
          <WhereFrom butler={butler} told={told} />
        </div>
        <Section
          title="What it was told"
          aside={told.length > 1 && <span className={styles.soft}>{toldWords(session)}</span>}
        >
          <ToldMemories butler={butler} told={told} />
        </Section>
        <Section title="What happened">
          <Happened butler={butler} session={session.session_id} stored={stored} />
        </Section>
        <Section title="What was learned">
          {learned.length === 0 ? (
            <p className={styles.soft}>Nothing was learned from this session so far.</p>
          ) : (
            learned.map((event) => <EventLine key={event.id} event={event} butler={butler} />)
          )}
        </Section>
      </AskSelection>
    </Page>
  );
}

function sentenceOf({ session, told, learned }: ApiOneSession): string {
  const memories = new Set(told.flatMap((one) => one.memories.map(({ id }) => id))).size;
  const facts = learned.filter(({ entity_type }) => entity_type === "fact").length;
  const rules = learned.length - facts;
  const lessons = listed(
    [facts > 0 && counted(facts, "fact"), rules > 0 && counted(rules, "rule")].filter((part) => part !== false),
  );
  const knew = memories === 0 ? "was told nothing" : `was told ${counted(memories, "memory")}`;
  return `${session.agent} ${knew}; ${lessons === "" ? "nothing" : lessons} ${facts + rules > 1 ? "were" : "was"} learned from it.`;
}

function About({ butler, session }: { readonly butler: string; readonly session: Session }) {
  const { project, folder, at, ended_at, duration_ms, cost_usd, prompt, session_id } = session;
  const lasted = duration_ms ?? (ended_at === undefined ? undefined : Date.parse(ended_at) - Date.parse(at));
  return (
    <>
      <div className={styles.about}>
        <Standing session={session} />
        <span>
          began <When at={at} />
          {lasted !== undefined && `, for ${spanWords(lasted)}`}
        </span>
        <span title={folder}>in {project === undefined ? folder : projectWords(project)}</span>
        {cost_usd !== undefined && <span>{dollars(cost_usd)}</span>}
        <ShortId id={session_id} />
        <UndoWhatCame butler={butler} cause={{ session: session_id }} isQuiet />
      </div>
      {prompt !== undefined && <p>{prompt}</p>}
    </>
  );
}

/** 4 seconds, 12 minutes, 2 hours. */
function spanWords(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1_000));
  if (seconds < 90) return counted(seconds, "second");
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? counted(minutes, "minute") : counted(Math.round(minutes / 60), "hour");
}
