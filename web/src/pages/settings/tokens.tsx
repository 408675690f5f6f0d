/** The tokens of a butler: a new one is shown once, and one that is not needed any more is ended. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import type { ApiNewToken, ApiTokens } from "../../../../src/doors/http/api/types.ts";
import { memoryPath, postJson } from "../../api/client.ts";
import { tokensQuery } from "../../api/queries.ts";
import { useMayWrite } from "../../api/writes.ts";
import { Button } from "../../parts/actions.tsx";
import { Command } from "../../parts/empty.tsx";
import { Failure } from "../../parts/failure.tsx";
import { When } from "../../parts/when.tsx";
import styles from "./settings.module.css";

/** The home's own token is ended at the command line alone. */
const OF_THE_HOME = "home";

export function Tokens({ butler }: { readonly butler: string }) {
  const mayWrite = useMayWrite();
  const client = useQueryClient();
  const { data, error } = useQuery(tokensQuery(butler));
  const renew = () => client.invalidateQueries({ queryKey: tokensQuery(butler).queryKey });
  const revoke = useMutation({
    mutationFn: (name: string) => postJson(memoryPath(butler, `tokens/${encodeURIComponent(name)}/revoke`)),
    onSettled: renew,
  });
  if (error) return <Failure error={error} />;
  return (
    <div className={styles.how}>
      <p>Programs that ask over HTTP need a token. Only its hash is kept.</p>
      <ul>
        {data?.tokens.map((token) => (
          <li key={token.name} className={styles.token}>
            <span>
              <strong>{token.name}</strong> {aboutToken(token)}, since <When at={token.created} />
            </span>
            {mayWrite && token.name !== OF_THE_HOME && (
              <Button onClick={() => revoke.mutate(token.name)} title="It is refused from that moment on">
                {`Revoke ${token.name}`}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {revoke.error && <p role="alert">{revoke.error.message}</p>}
      {mayWrite && <NewToken butler={butler} made={renew} />}
    </div>
  );
}

const aboutToken = ({ butler, admin, reader }: ApiTokens["tokens"][number]): string =>
  [
    butler === "*" ? "every butler" : "this butler",
    admin ? "admin" : undefined,
    reader ? "may look and change nothing" : undefined,
  ]
    .filter((part) => part !== undefined)
    .join(", ");

function NewToken({ butler, made }: { readonly butler: string; readonly made: () => unknown }) {
  const create = useMutation({
    mutationFn: (asked: { name: string; reader: boolean }) =>
      postJson<ApiNewToken>(memoryPath(butler, "tokens"), asked),
    onSettled: made,
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    create.mutate({ name: String(form.get("name") ?? "").trim(), reader: form.get("reader") !== null });
  };
  return (
    <form className={styles.newToken} onSubmit={submit}>
      <label>
        Name of a new token
        <input name="name" required maxLength={64} pattern="[A-Za-z0-9][A-Za-z0-9._\-]*" autoComplete="off" />
      </label>
      <label className={styles.reader}>
        <input name="reader" type="checkbox" /> may look and change nothing
      </label>
      <button type="submit">Make it</button>
      {create.error && <p role="alert">{create.error.message}</p>}
      {create.data !== undefined && (
        <p role="status">
          This is shown once; keep it where the program finds it: <Command text={create.data.token} />
        </p>
      )}
    </form>
  );
}
