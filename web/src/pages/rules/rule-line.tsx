import { useState } from "react";
import type { ApiRule } from "../../../../src/doors/http/api/types.ts";
import { A, memoryHref } from "../../frame/link.tsx";
import { Actions } from "../../parts/actions.tsx";
import { Confidence } from "../../parts/confidence.tsx";
import { More } from "../../parts/more.tsx";
import { State } from "../../parts/state.tsx";
import { exactTime, useNow, When } from "../../parts/when.tsx";
import { counted, scopeWords } from "../../parts/words.ts";
import { effectWords, marksWords, nextStepWords } from "./rule-words.ts";
import styles from "./rules.module.css";

interface RuleLineParts {
  readonly rule: ApiRule;
  readonly butler: string;
  /** The moment that is looked at, if it is not now: nothing is changed then. */
  readonly at: string | undefined;
}

export function RuleLine({ rule, butler, at }: RuleLineParts) {
  const [isOpen, setOpen] = useState(false);
  const { id, content, original_content, warning, state } = rule;
  return (
    <article className={styles.rule} data-state={state} data-warning={warning}>
      <div className={styles.body}>
        <A to={memoryHref(butler, id)} className={styles.text} data-row>
          {warning && <State state="warning" />} <span className={styles.content}>{content ?? "(forgotten)"}</span>
        </A>
        {warning && original_content !== null && (
          <p className={styles.was}>
            It was the rule: <q>{original_content}</q>
          </p>
        )}
        <Marks rule={rule} />
      </div>
      <Aside rule={rule} butler={butler} at={at} />
      {at === undefined && <More of="rule" isOpen={isOpen} toggle={() => setOpen(!isOpen)} />}
      {isOpen && (
        <div className={styles.actions}>
          <Actions butler={butler} memory={{ type: "rule", id, state, content }} />
        </div>
      )}
    </article>
  );
}

/** One sign for each time that it was applied, oldest first. */
function Marks({ rule }: { readonly rule: ApiRule }) {
  const { marks, helpful, harmful, next_step, maturity } = rule;
  const older = helpful + harmful - marks.length;
  return (
    <p className={styles.marks}>
      {marks.length > 0 && (
        <span className={styles.strip} role="img" aria-label={`Marks: ${marksWords(rule)}`}>
          {older > 0 && <span title={`${older} older`}>+{older}</span>}
          {marks.map(({ outcome, at, note }, nth) => (
            <span
              // biome-ignore lint/suspicious/noArrayIndexKey: marks have no id, and keep their places.
              key={nth}
              data-outcome={outcome}
              title={`${outcome}, ${exactTime(at)}${note === null ? "" : `: ${note}`}`}
            >
              {outcome === "helpful" ? "●" : "▲"}
            </span>
          ))}
        </span>
      )}
      {maturity !== "anti_pattern" && <span>{maturity}</span>}
      <span title={`${marksWords(rule)}; a harmful mark weighs four times as much as a helpful one`}>
        {effectWords(rule)}
      </span>
      {next_step !== null && rule.state !== "retracted" && <span>{nextStepWords(next_step)}</span>}
    </p>
  );
}

function Aside({ rule, butler, at }: RuleLineParts) {
  const now = useNow();
  return (
    <div className={styles.aside}>
      <Confidence of={rule} from={at === undefined ? now : Date.parse(at)} />
      <div>
        {rule.state !== "active" && <State state={rule.state} />}
        {rule.sources > 0 && (
          <A to={memoryHref(butler, rule.id)} title="Episodes that it was learned from or that say the same">
            {counted(rule.sources, "source")}
          </A>
        )}
        <span title={rule.scope}>{scopeWords(rule.scope)}</span>
        <span>
          since <When at={rule.created_at} />
        </span>
      </div>
    </div>
  );
}
