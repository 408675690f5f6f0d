/** What went wrong, in the daemon's own words, and what can be done. */
import { useQueryClient } from "@tanstack/react-query";
import { ApiError } from "../api/client.ts";
import { A } from "../frame/link.tsx";
import styles from "./failure.module.css";
import { Page } from "./page.tsx";

export function Failure({ error, again }: { readonly error: Error; readonly again?: (() => void) | undefined }) {
  const client = useQueryClient();
  const isGone = error instanceof ApiError && error.status === 404;
  return (
    <div className={styles.failure} role="alert">
      <strong>{isGone ? "Not found." : "This could not be shown."}</strong>
      <p>{error.message}</p>
      {!isGone && (
        <button type="button" className={styles.again} onClick={again ?? (() => void client.invalidateQueries())}>
          Try again
        </button>
      )}
    </div>
  );
}

/** A page of which nothing can be shown. */
export function FailedPage({ name, ...failure }: { readonly name: string } & Parameters<typeof Failure>[0]) {
  return (
    <Page name={name} sentence={`${name} cannot be shown.`}>
      <Failure {...failure} />
    </Page>
  );
}

export function NotThere() {
  return (
    <div className={styles.failure}>
      <strong>There is no such page.</strong>
      <p>
        The address may be of an older version. <A to="/memory">All butlers</A> is a good place to start.
      </p>
    </div>
  );
}
