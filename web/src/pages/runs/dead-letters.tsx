/** Episodes that nobody could learn from: why, and the way to send them again. */
import { type InfiniteData, type UseInfiniteQueryResult, useMutation, useQueryClient } from "@tanstack/react-query";
import type { ApiDeadLetters } from "../../../../src/doors/http/api/types.ts";
import { memoryPath, postJson } from "../../api/client.ts";
import { useMayWrite } from "../../api/writes.ts";
import { A, memoryHref } from "../../frame/link.tsx";
import { say } from "../../frame/toasts.tsx";
import { Button } from "../../parts/actions.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Loading } from "../../parts/loading.tsx";
import { When } from "../../parts/when.tsx";
import { counted, scopeWords } from "../../parts/words.ts";
import styles from "./runs.module.css";

type Letter = ApiDeadLetters["letters"][number];

interface DeadLettersParts {
  readonly butler: string;
  readonly found: UseInfiniteQueryResult<InfiniteData<ApiDeadLetters>>;
}

function useRedrive(butler: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (ids: readonly string[] | undefined) =>
      postJson<{ redriven: string[] }>(memoryPath(butler, "dead-letters/redrive"), ids === undefined ? {} : { ids }),
    onSuccess: ({ redriven }) =>
      say({
        text: `${counted(redriven.length, "episode")} sent again: the next run reads ${redriven.length === 1 ? "it" : "them"}.`,
      }),
    onError: (error) => say({ text: error.message, isError: true }),
    onSettled: () => client.invalidateQueries({ queryKey: ["butler", butler] }),
  });
}

export function DeadLetters({ butler, found }: DeadLettersParts) {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = found;
  const mayWrite = useMayWrite();
  const redrive = useRedrive(butler);
  if (error) return <Failure error={error} again={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  const letters = data.pages.flatMap((page) => page.letters);
  if (letters.length === 0)
    return (
      <Empty says="Every episode was learned from, or waits for its turn. What fails several times is put here, with the reason." />
    );
  return (
    <>
      {mayWrite && (
        <p className={styles.all}>
          <Button onClick={() => redrive.mutate(undefined)}>
            {redrive.isPending ? "Sending …" : "Send all again"}
          </Button>
        </p>
      )}
      <ul>
        {letters.map((letter) => (
          <li key={letter.id} className={styles.letter}>
            <LetterText letter={letter} butler={butler} />
            {mayWrite && <Button onClick={() => redrive.mutate([letter.id])}>Send again</Button>}
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <p className={styles.more}>
          <Button onClick={() => void fetchNextPage()}>{isFetchingNextPage ? "Loading …" : "More"}</Button>
        </p>
      )}
    </>
  );
}

function LetterText({ letter, butler }: { readonly letter: Letter; readonly butler: string }) {
  const { id, content, error, attempts, status, scope, created_at } = letter;
  return (
    <div className={styles.words}>
      <A to={memoryHref(butler, id)} className={styles.text} data-row>
        {content}
      </A>
      <p className={styles.reason}>{error ?? "No reason was written down."}</p>
      <p className={styles.about}>
        {status === "failed" ? "failed" : "given up"} after {counted(attempts, "attempt")} · <When at={created_at} />
        {scope !== butler && <span title={scope}> · {scopeWords(scope)}</span>}
      </p>
    </div>
  );
}
