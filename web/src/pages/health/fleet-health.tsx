/** Whether all butlers are well: each a block, with what is not well first. */
import { useQuery } from "@tanstack/react-query";
import type { ApiFleetHealth } from "../../../../src/doors/http/api/types.ts";
import { fleetHealthQuery } from "../../api/queries.ts";
import { A, butlerPath } from "../../frame/link.tsx";
import { Empty } from "../../parts/empty.tsx";
import { FailedPage } from "../../parts/failure.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Page } from "../../parts/page.tsx";
import { counted, listed } from "../../parts/words.ts";
import { Conditions, Sign } from "./conditions.tsx";
import styles from "./health.module.css";
import { type Standing, standingOf, worstFirst } from "./words.ts";

type Told = ApiFleetHealth["butlers"][number];

const standing = (told: Told): Standing => (told.ok ? standingOf(told.answer) : "unknown");
const ORDER: readonly Standing[] = ["not_ok", "unknown", "ok"];

export function FleetHealthPage() {
  const { data, error, refetch } = useQuery(fleetHealthQuery);
  if (error) return <FailedPage name="All butlers · Health" error={error} again={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  const butlers = data.butlers.toSorted((a, b) => ORDER.indexOf(standing(a)) - ORDER.indexOf(standing(b)));
  return (
    <Page name="All butlers · Health" sentence={sentenceOf(butlers)} aside="Asked again every 15 seconds.">
      {butlers.length === 0 && <Empty says="There is no butler that you may look at." />}
      {butlers.map((told) => (
        <Butler key={told.name} told={told} />
      ))}
    </Page>
  );
}

function sentenceOf(butlers: readonly Told[]): string {
  const count = (state: Standing) => butlers.filter((told) => standing(told) === state).length;
  const [bad, unknown] = [count("not_ok"), count("unknown")];
  if (butlers.length === 0) return "Nobody to ask.";
  if (bad + unknown === 0)
    return butlers.length === 1 ? "The butler is well." : `All ${butlers.length} butlers are well.`;
  const parts = [
    bad > 0 && `${bad} of ${counted(butlers.length, "butler")} ${bad === 1 ? "is" : "are"} not well`,
    unknown > 0 && `of ${counted(unknown, "butler")} not everything is known`,
  ].filter((part) => part !== false);
  const words = listed(parts);
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

function Butler({ told }: { readonly told: Told }) {
  const { name } = told;
  const state = standing(told);
  const conditions = told.ok ? told.answer.conditions : [];
  const wrong = worstFirst(conditions).filter((one) => one.state !== "ok");
  const well = conditions.length - wrong.length;
  const reason = told.ok ? told.answer.reason : told.reason;
  return (
    <section className={styles.butler} data-state={state} aria-label={name}>
      <div className={styles.name}>
        <h2>
          <A to={butlerPath(name, "health")} data-row>
            {name}
          </A>
        </h2>
        <Sign state={state} />
      </div>
      {reason !== undefined && <p>{reason}</p>}
      {wrong.length > 0 && <Conditions conditions={wrong} butler={name} />}
      {conditions.length > 0 && (
        <p className={styles.rest}>
          <A to={butlerPath(name, "health")}>
            {well} of {counted(conditions.length, "condition")}
          </A>{" "}
          {well === 1 ? "is" : "are"} ok.
        </p>
      )}
      {conditions.length === 0 && reason === undefined && (
        <p className={styles.rest}>Its conditions are told to those who run it.</p>
      )}
    </section>
  );
}
