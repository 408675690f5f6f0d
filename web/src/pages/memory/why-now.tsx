/** Whether a question would bring this memory up, and which check decides. */
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { whyQuery } from "../../api/queries.ts";
import { projectWords } from "../../parts/words.ts";
import styles from "./memory.module.css";

interface WhyParts {
  readonly butler: string;
  readonly id: string;
  readonly scope: string;
}

export function WhyNow({ butler, id, scope }: WhyParts) {
  // What belongs to a project is told to sessions of that project.
  const project = scope.startsWith(`${butler}/`) ? scope.slice(butler.length + 1) : undefined;
  const [asked, setAsked] = useState("");
  const { data, error, isFetching } = useQuery({ ...whyQuery(butler, id, asked, project), enabled: asked !== "" });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const words = new FormData(event.currentTarget).get("question");
    if (typeof words === "string") setAsked(words.trim());
  };
  return (
    <form className={styles.ask} onSubmit={submit}>
      <label>
        <span className="visually-hidden">A question or prompt</span>
        <input name="question" placeholder="A question or prompt …" maxLength={4000} />
      </label>
      <button type="submit">Ask</button>
      {error && asked !== "" && <p role="alert">{error.message}</p>}
      {isFetching && <p role="status">Looking …</p>}
      {data !== undefined && asked !== "" && !isFetching && (
        <div className={styles.answer}>
          {project !== undefined && <p className={styles.by}>Asked in {projectWords(project)}:</p>}
          <p>
            <strong>{data.shown ? "Yes." : "No."}</strong> {data.verdict}
          </p>
          <ul>
            {data.steps.map(({ check, ok, words }) => (
              <li key={check}>
                <span aria-hidden>{ok ? "✓" : "✗"}</span>
                <span className="visually-hidden">{ok ? "passed: " : "kept out: "}</span> {words}
              </li>
            ))}
          </ul>
        </div>
      )}
    </form>
  );
}
