/** The agents that have used this memory, and when each was last heard. */
import { useInfiniteQuery } from "@tanstack/react-query";
import type { ApiSessions } from "../../../../src/doors/http/api/types.ts";
import { sessionsQuery } from "../../api/queries.ts";
import { A, butlerPath } from "../../frame/link.tsx";
import { Command, Empty } from "../../parts/empty.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Loading } from "../../parts/loading.tsx";
import { When } from "../../parts/when.tsx";
import { counted } from "../../parts/words.ts";
import styles from "./settings.module.css";

type Session = ApiSessions["sessions"][number];

const heardAt = ({ at, ended_at, told }: Session): string =>
  [at, ended_at ?? at, ...told.map((one) => one.at)].reduce((latest, one) => (one > latest ? one : latest));

export function Agents({ butler }: { readonly butler: string }) {
  const { data, error, hasNextPage, refetch } = useInfiniteQuery(sessionsQuery(butler));
  if (error) return <Failure error={error} again={() => void refetch()} />;
  if (data === undefined) return <Loading lines={2} />;
  const sessions = data.pages.flatMap((page) => page.sessions);
  const agents = [...new Set(sessions.map(({ agent }) => agent))];
  if (agents.length === 0)
    return (
      <Empty says="No agent has been heard yet. This connects one:">
        <Command text="butler install claude-code" />
      </Empty>
    );
  return (
    <ul>
      {agents.map((agent) => {
        const own = sessions.filter((session) => session.agent === agent);
        const running = own.filter(({ state }) => state === "running").length;
        const last = own.map(heardAt).toSorted().at(-1) ?? "";
        return (
          <li key={agent} className={styles.agent}>
            <strong>{agent}</strong>
            <span>
              last heard <When at={last} />
            </span>
            {running > 0 && <span>● {running} running</span>}
            <A to={butlerPath(butler, "sessions")} data-row>
              {hasNextPage ? "of the last sessions " : ""}
              {counted(own.length, "session")}
            </A>
          </li>
        );
      })}
    </ul>
  );
}
