/** The tokens of a butler: a new one is shown once, one that may have been seen is replaced, and one that is not needed any more is ended. */
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
  const rotate = useMutation({
    mutationFn: (name: string) =>
      postJson<ApiNewToken>(memoryPath(butler, `tokens/${encodeURIComponent(name)}/rotate`)),
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
              <strong>{token.name}</strong> {aboutToken(token)}, made <When at={token.created} />
            </span>
            {mayWrite && token.name !== OF_THE_HOME && (
              <span className={styles.ends}>
                <Button
                  onClick={() => rotate.mutate(token.name)}
                  title="A new one in its place; the old one is refused"
                >
                  Replace <span className="visually-hidden">{token.name}</span>
                </Button>
                <Button onClick={() => revoke.mutate(token.name)} title="It is refused from that moment on">
                  Revoke <span className="visually-hidden">{token.name}</span>
                </Button>
              </span>
            )}
          </li>
        ))}
      </ul>
      {revoke.error && <p role="alert">{revoke.error.message}</p>}
      {rotate.error && <p role="alert">{rotate.error.message}</p>}
      {rotate.data !== undefined && <ShownOnce token={rotate.data} />}
      {mayWrite && <NewToken butler={butler} made={renew} />}
    </div>
  );
}

const aboutToken = ({ butler, role, reader, scopes, expires, last_used }: ApiTokens["tokens"][number]): string =>
  [
    butler === "*" ? "every butler" : "this butler",
    reader ? "may look and change nothing" : role === "writer" ? undefined : role,
    scopes === null ? undefined : `scopes ${scopes.join(" ")}`,
    expires === null ? undefined : `until ${expires.slice(0, 10)}`,
    last_used === null ? "not used yet" : `last used ${last_used}`,
  ]
    .filter((part) => part !== undefined)
    .join(", ");

function NewToken({ butler, made }: { readonly butler: string; readonly made: () => unknown }) {
  const create = useMutation({
    mutationFn: (asked: { name: string; role: string; expires_in_days?: number }) =>
      postJson<ApiNewToken>(memoryPath(butler, "tokens"), asked),
    onSettled: made,
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const days = Number(form.get("days") ?? 0);
    create.mutate({
      name: String(form.get("name") ?? "").trim(),
      role: String(form.get("role")),
      ...(days > 0 ? { expires_in_days: days } : {}),
    });
  };
  return (
    <form className={styles.newToken} onSubmit={submit}>
      <label>
        Name of a new token
        <input name="name" required maxLength={64} pattern="[A-Za-z0-9][A-Za-z0-9._\-]*" autoComplete="off" />
      </label>
      <label>
        It may
        <select name="role" defaultValue="writer">
          <option value="reader">look and change nothing</option>
          <option value="writer">read and remember</option>
          <option value="admin">do everything with this butler</option>
        </select>
      </label>
      <label>
        Ends after days
        <input name="days" type="number" min={1} max={3650} placeholder="never" />
      </label>
      <button type="submit">Make it</button>
      {create.error && <p role="alert">{create.error.message}</p>}
      {create.data !== undefined && <ShownOnce token={create.data} />}
    </form>
  );
}

const ShownOnce = ({ token: { name, token } }: { readonly token: ApiNewToken }) => (
  <div role="status" className={styles.once}>
    <p>
      The token of <strong>{name}</strong> is shown once. Keep it where the program finds it:
    </p>
    <Command text={token} />
  </div>
);
