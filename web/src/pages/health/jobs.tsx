/** The jobs: when each ran and runs next, and a way to run it now. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ApiHealth } from "../../../../src/doors/http/api/types.ts";
import { memoryPath, postJson } from "../../api/client.ts";
import { useMayWrite } from "../../api/writes.ts";
import { Button } from "../../parts/actions.tsx";
import { When } from "../../parts/when.tsx";
import styles from "./health.module.css";
import { Unknown } from "./measures.tsx";
import { lateWords } from "./words.ts";

type Job = NonNullable<ApiHealth["jobs"]>[number];

interface Ran {
  readonly state: string;
  readonly seconds?: number;
  readonly error?: string | null;
  readonly report?: Report | null;
}

interface Report {
  readonly changed?: number;
  readonly counts?: Readonly<Record<string, number>>;
  readonly notes?: readonly string[];
  readonly complete?: boolean;
}

export function Jobs({ jobs, butler }: { readonly jobs: ApiHealth["jobs"]; readonly butler: string }) {
  const mayWrite = useMayWrite();
  if (jobs === null) return <Unknown what="When its jobs ran is" />;
  return (
    <ul>
      {jobs.map((job) => (
        <JobLine key={job.job} job={job} butler={butler} mayRun={mayWrite} />
      ))}
    </ul>
  );
}

const PAUSE_MS = 1_000;

/** A key of its own for each press: asked again with it, the daemon tells of that run and starts no second one. */
const freshKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

function useRun(butler: string, job: string) {
  const client = useQueryClient();
  return useMutation({
    async mutationFn(): Promise<Ran> {
      const key = freshKey();
      for (;;) {
        const ran = await postJson<Ran>(memoryPath(butler, `jobs/${encodeURIComponent(job)}/run`), {}, { key });
        if (ran.state !== "running") return ran;
        await new Promise((done) => setTimeout(done, PAUSE_MS));
      }
    },
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ["butler", butler] }),
        client.invalidateQueries({ queryKey: ["fleet"] }),
      ]),
  });
}

function JobLine({ job, butler, mayRun }: { readonly job: Job; readonly butler: string; readonly mayRun: boolean }) {
  const run = useRun(butler, job.job);
  const { last, next, cron, overdue_seconds: late } = job;
  return (
    <li className={styles.job}>
      <div>
        <p>
          <strong className={styles.jobName}>{job.job.replaceAll("_", " ")}</strong>{" "}
          <span className={styles.soft}>{job.about}</span>
        </p>
        <p className={styles.times}>
          <span>{last === null ? "never ran" : <Last last={last} />}</span>
          <span title={cron ?? undefined}>
            {next === null ? (
              "runs by hand only"
            ) : (
              <>
                next <When at={next} />
              </>
            )}
          </span>
          {late === null && <span>whether it is late is unknown</span>}
          {typeof late === "number" && late > 0 && <span className={styles.late}>▲ {lateWords(late)}</span>}
        </p>
        <div role="status" className={styles.result}>
          {run.isPending && "Running …"}
          {run.data !== undefined && !run.isPending && <Result ran={run.data} />}
        </div>
        {run.error && (
          <p role="alert" className={styles.late}>
            {run.error.message}
          </p>
        )}
      </div>
      {mayRun && !run.isPending && <Button onClick={() => run.mutate()}>Run now</Button>}
    </li>
  );
}

function Last({ last }: { readonly last: NonNullable<Job["last"]> }) {
  const { state, started_at, error, report } = last;
  const isBad = state === "failed" || state === "dead_letter";
  const words = summary(report as Report | null | undefined);
  if (state === "running")
    return (
      <>
        runs since <When at={started_at} />
      </>
    );
  return (
    <>
      <span className={isBad ? styles.late : undefined}>
        {isBad ? "▲ failed" : "done"} <When at={started_at} />
      </span>
      {isBad && typeof error === "string" ? `: ${error}` : words !== undefined && `: ${words}`}
    </>
  );
}

function Result({ ran }: { readonly ran: Ran }) {
  const took = ran.seconds === undefined ? "" : ` in ${ran.seconds} s`;
  if (ran.state !== "done")
    return (
      <p className={styles.late}>
        ▲ It failed{took}: {ran.error ?? "no reason was given"}
      </p>
    );
  return (
    <>
      <p>
        ✓ Done{took}: {summary(ran.report) ?? "nothing to do"}.
      </p>
      {ran.report?.notes?.map((note) => (
        <p key={note} className={styles.soft}>
          {note}
        </p>
      ))}
    </>
  );
}

function summary(report: Report | null | undefined): string | undefined {
  if (report === null || report === undefined) return undefined;
  const { counts = {}, changed = 0, complete = true } = report;
  const parts = Object.entries(counts)
    .filter(([, n]) => n !== 0)
    .map(([name, n]) => `${n.toLocaleString("en")} ${name.replaceAll("_", " ")}`);
  const words = parts.length > 0 ? parts.join(", ") : changed === 0 ? "nothing to do" : `${changed} changed`;
  return complete ? words : `${words}; not finished`;
}
