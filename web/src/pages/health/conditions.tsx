/** One line per condition: its state as a sign, a word and a colour; since when; and what to do. */
import { A, butlerPath } from "../../frame/link.tsx";
import type { PageSearch } from "../../frame/search-params.ts";
import { Command } from "../../parts/empty.tsx";
import { exactTime, When } from "../../parts/when.tsx";
import styles from "./health.module.css";
import { CONDITION_WORDS, type Condition, commandIn, STANDINGS, type Standing } from "./words.ts";

export function Sign({ state }: { readonly state: Standing }) {
  const { sign, word } = STANDINGS[state];
  return (
    <span className={styles.sign} data-state={state}>
      <span aria-hidden="true">{sign}</span> {word}
    </span>
  );
}

interface ConditionsParts {
  readonly conditions: readonly Condition[];
  readonly butler: string;
}

export function Conditions({ conditions, butler }: ConditionsParts) {
  return (
    <ul>
      {conditions.map((condition) => (
        <ConditionLine key={condition.id} condition={condition} butler={butler} />
      ))}
    </ul>
  );
}

const ISO = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

/** Times stand in the sentence as the API writes them; people read them in their own zone. */
const withTimes = (says: string): string =>
  says
    .split(ISO)
    .map((part) => (ISO.test(part) ? exactTime(part) : part))
    .join("");

/** The rows that a condition speaks of. */
const ROWS: Readonly<Record<string, readonly [page: string, search: PageSearch]>> = {
  backlog: ["episodes", { status: "pending" }],
  learning: ["runs", {}],
  dead_letters: ["runs", { show: "dead-letters" }],
  spend: ["runs", {}],
  hooks: ["sessions", {}],
};

function ConditionLine({ condition, butler }: { readonly condition: Condition; readonly butler: string }) {
  const { id, state, since, says, what_to_do } = condition;
  const rows = ROWS[id];
  const name = CONDITION_WORDS[id] ?? id;
  const command = what_to_do === null ? undefined : commandIn(what_to_do, butler);
  return (
    <li className={styles.condition} data-state={state}>
      <Sign state={state} />
      <div className={styles.says}>
        <p>
          <strong>
            {rows === undefined ? (
              name
            ) : (
              <A to={butlerPath(butler, rows[0])} search={rows[1]} data-row>
                {name}
              </A>
            )}
          </strong>{" "}
          {withTimes(says)}
        </p>
        {what_to_do !== null && <p className={styles.todo}>{what_to_do}</p>}
        {command !== undefined && <Command text={command} />}
      </div>
      <span className={styles.since} title="As far as the running daemon knows">
        since <When at={since} />
      </span>
    </li>
  );
}
