/** The steps that a rule climbs by helping, and beside them what it becomes by doing harm. Each count leads to its rules. */
import type { ApiRules } from "../../../../src/doors/http/api/types.ts";
import { A, butlerPath } from "../../frame/link.tsx";
import { usePageSearch } from "../../frame/search-params.ts";
import styles from "./ladder.module.css";

type Counts = NonNullable<ApiRules["ladder"]>;

const STEPS: readonly (readonly [maturity: keyof Counts, name: string, means: string])[] = [
  ["candidate", "Candidate", "new, on trial"],
  ["established", "Established", "has helped several times"],
  ["proven", "Proven", "has helped often and for long"],
];

export function Ladder({ butler, counts }: { readonly butler: string; readonly counts: Counts }) {
  return (
    <div className={styles.ladder}>
      <ol className={styles.steps} aria-label="Steps of a rule, from the lowest">
        {STEPS.map(([maturity, name, means]) => (
          <li key={maturity}>
            <Step butler={butler} maturity={maturity} name={name} means={means} count={counts[maturity]} />
          </li>
        ))}
      </ol>
      <Step
        butler={butler}
        maturity="anti_pattern"
        name="▲ Warnings"
        means="did harm: told as “avoid”"
        count={counts.anti_pattern}
      />
    </div>
  );
}

interface StepParts {
  readonly butler: string;
  readonly maturity: keyof Counts;
  readonly name: string;
  readonly means: string;
  readonly count: number;
}

/** The chosen step leads back to all of them. */
function Step({ butler, maturity, name, means, count }: StepParts) {
  const search = usePageSearch();
  const isChosen = search.maturity === maturity;
  return (
    <A
      to={butlerPath(butler, "rules")}
      search={{ ...search, maturity: isChosen ? undefined : maturity }}
      className={`${styles.step} ${isChosen ? styles.chosen : ""} ${maturity === "anti_pattern" ? styles.warning : ""}`}
      exact
      aria-current={isChosen ? "page" : undefined}
      title={isChosen ? "Show all rules again" : "Show only these"}
    >
      <span className={styles.count}>{count.toLocaleString("en")}</span>
      <span className={styles.name}>{name}</span>
      <span className={styles.means}>{means}</span>
    </A>
  );
}
