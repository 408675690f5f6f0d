/** Signing in: with the one-time code of “butler open”, which stands behind the # and so reaches no log, or with a token. */
import { type FormEvent, useEffect, useRef, useState } from "react";
import { postJson } from "../api/client.ts";
import { queryClient } from "../api/query-client.ts";
import { Command } from "../parts/empty.tsx";
import styles from "./sign-in.module.css";

/** Only an address of these pages. */
const target = (): string => {
  const to = new URLSearchParams(location.search).get("to") ?? "";
  return /^\/(memory|butlers)(\/|\?|$)/.test(to) ? to : "/memory";
};

async function signIn(how: { code: string } | { token: string }): Promise<void> {
  await postJson("/api/session", how);
  queryClient.clear();
  location.replace(target());
}

export function SignIn() {
  const [fault, setFault] = useState<string>();
  const [isBusy, setBusy] = useState(() => location.hash.length > 1);
  const tried = useRef(false);
  const attempt = (how: { code: string } | { token: string }) => {
    setBusy(true);
    setFault(undefined);
    signIn(how).catch((error: unknown) => {
      setFault(error instanceof Error ? error.message : String(error));
      setBusy(false);
    });
  };
  useEffect(() => {
    document.title = "Sign in · Butler Memory";
    const code = location.hash.slice(1);
    if (code === "" || tried.current) return;
    tried.current = true;
    // The code does not stay in the history.
    history.replaceState(null, "", location.pathname + location.search);
    attempt({ code });
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const token = new FormData(event.currentTarget).get("token");
    if (typeof token === "string" && token.trim() !== "") attempt({ token: token.trim() });
  };
  return (
    <main className={styles.page}>
      <h1>Butler Memory</h1>
      {isBusy ? (
        <p role="status">Signing in …</p>
      ) : (
        <>
          {fault !== undefined && (
            <p role="alert" className={styles.fault}>
              {fault}
            </p>
          )}
          <p>On the machine where the butlers run, this opens the pages, signed in:</p>
          <Command text="butler open" />
          <form className={styles.form} onSubmit={submit}>
            <label>
              Or sign in with a token
              <input name="token" type="password" autoComplete="off" required maxLength={200} />
            </label>
            <button type="submit">Sign in</button>
          </form>
        </>
      )}
    </main>
  );
}
