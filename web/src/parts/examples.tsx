/** One click fills an empty memory with an invented story, so that a newcomer sees what the pages are for. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { memoryPath, postJson } from "../api/client.ts";
import { useMayWrite } from "../api/writes.ts";
import { Button } from "./actions.tsx";

export function Examples({ butler }: { readonly butler: string }) {
  const client = useQueryClient();
  const mayWrite = useMayWrite();
  const fill = useMutation({
    mutationFn: () => postJson(memoryPath(butler, "examples")),
    onSettled: () => client.invalidateQueries(),
  });
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
