/** One click fills an empty memory with an invented story, so that a newcomer sees what the pages are for; another takes it away. */
import { useInfiniteQuery, useIsMutating, useMutation, useQueryClient } from "@tanstack/react-query";
import { deleteJson, memoryPath, postJson } from "../api/client.ts";
import { factsQuery } from "../api/queries.ts";
import { useMayWrite } from "../api/writes.ts";
import { Button } from "./actions.tsx";
import styles from "./examples.module.css";

/** As the daemon tags what it tells. */
const TAG = "example";

const TELLING = ["examples"];

function useExamples(work: () => Promise<unknown>, mutationKey: readonly string[] = []) {
  const client = useQueryClient();
  return useMutation({ mutationKey, mutationFn: work, onSettled: () => client.invalidateQueries() });
}

export function Examples({ butler }: { readonly butler: string }) {
  const mayWrite = useMayWrite();
  const fill = useExamples(() => postJson(memoryPath(butler, "examples")), TELLING);
  if (!mayWrite) return null;
  return (
    <div>
      <p>Or look around first:</p>
      <p>
        {fill.isPending ? (
          <span role="status">Telling {butler} an invented story of some weeks …</span>
        ) : (
          <Button onClick={() => fill.mutate()}>Fill it with example memories</Button>
        )}
      </p>
      {fill.error && <p role="alert">{fill.error.message}</p>}
    </div>
  );
}

/** Where there are examples, they are called so. */
export function AreExamples({ butler }: { readonly butler: string }) {
  const mayWrite = useMayWrite();
  const { data } = useInfiniteQuery(factsQuery(butler, { tag: TAG, limit: 1 }));
  const remove = useExamples(() => deleteJson(memoryPath(butler, "examples")));
  const isTelling = useIsMutating({ mutationKey: TELLING }) > 0;
  if (!mayWrite || isTelling || data?.pages[0]?.facts.length !== 1) return null;
  return (
    <div className={styles.band}>
      <span>There are example memories here, of an invented shop; no agent is told of them.</span>
      {remove.isPending ? (
        <span role="status">Forgetting them …</span>
      ) : (
        <Button onClick={() => remove.mutate()}>Take them away</Button>
      )}
      {remove.error && <span role="alert">{remove.error.message}</span>}
    </div>
  );
}
