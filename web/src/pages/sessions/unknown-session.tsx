/** A session that the log does not have, but episodes name: the log is shorter than the memory. */
import { useInfiniteQuery } from "@tanstack/react-query";
import type { ApiEpisodesQuery } from "../../../../src/doors/http/api/types.ts";
import { episodesQuery } from "../../api/queries.ts";
import { A, butlerPath } from "../../frame/link.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Page, Section } from "../../parts/page.tsx";
import { counted } from "../../parts/words.ts";
import { Happened } from "./happened.tsx";

interface UnknownParts {
  readonly butler: string;
  readonly id: string;
  readonly error: Error;
}

const PAGE = 100;

export function UnknownSession({ butler, id, error }: UnknownParts) {
  const { data } = useInfiniteQuery(episodesQuery(butler, { session: id, limit: PAGE } as ApiEpisodesQuery));
  if (data === undefined) return <Loading />;
  const [first] = data.pages;
  const n = first?.episodes.length ?? 0;
  if (n === 0) return <Failure error={error} />;
  return (
    <Page
      name={`${butler} · Session ${id}`}
      sentence={`${first?.next_cursor === null ? "" : "More than "}${counted(n, "episode")} of a session that is not in the log.`}
      aside={
        <p>
          What its agent was told is not known: no hook logged it, or the log has been cut since.{" "}
          <A to={butlerPath(butler, "episodes")} search={{ session: id }}>
            Among all episodes
          </A>
        </p>
      }
    >
      <Section title="What happened">
        <Happened butler={butler} session={id} stored={[]} />
      </Section>
    </Page>
  );
}
