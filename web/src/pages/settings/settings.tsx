/** What holds and where each value came from, the agents that were heard, and how to change either. */
import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import type { ApiSettings } from "../../../../src/doors/http/api/types.ts";
import { settingsQuery } from "../../api/queries.ts";
import { useLater } from "../../frame/later.ts";
import { useButler } from "../../frame/link.tsx";
import { usePageSearch, useSetSearch } from "../../frame/search-params.ts";
import { Command, Empty } from "../../parts/empty.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Page, Section } from "../../parts/page.tsx";
import { Agents } from "./agents.tsx";
import styles from "./settings.module.css";
import { Tokens } from "./tokens.tsx";

type Setting = ApiSettings["values"][number];

const TYPING_MS = 250;
const DIFFERS = "differs";

export function SettingsPage() {
  const butler = useButler() ?? "";
  const { data, error, refetch } = useQuery(settingsQuery(butler));
  if (data === undefined && !error) return <Loading />;
  return (
    <Page
      name={`${butler} · Settings`}
      sentence={data === undefined ? "What holds, and where it came from." : sentenceOf(data.values)}
      aside="A value is changed in the file that is named beside it."
    >
      <Section title="Settings">
        {error && <Failure error={error} again={() => void refetch()} />}
        {data !== undefined && <Settings values={data.values} />}
      </Section>
      <Section title="To change a value">
        <div className={styles.how}>
          <p>
            Write it into the <code>butler.toml</code> of this butler, in the table that is named above it. It is in
            force as soon as the file is saved; a file with a mistake changes nothing. What is written there is checked
            by
          </p>
          <Command text="butler config check" />
          <p>The same list as above, for a terminal:</p>
          <Command text={`butler config show --butler ${butler}`} />
        </div>
      </Section>
      <Section title="Tokens">
        <Tokens butler={butler} />
      </Section>
      <Section title="Agents">
        <Agents butler={butler} />
      </Section>
    </Page>
  );
}

function sentenceOf(values: readonly Setting[]): string {
  const differ = values.filter(({ differs }) => differs).length;
  if (differ === 0) return `All ${values.length} settings are as usual.`;
  return `${differ} of ${values.length} settings differ from the default.`;
}

function tableOf(key: string): string {
  const cut = key.lastIndexOf(".");
  return cut < 0 ? "" : key.slice(0, cut);
}

const nameOf = (key: string): string => key.slice(key.lastIndexOf(".") + 1);

function Settings({ values }: { readonly values: readonly Setting[] }) {
  const { q = "", show } = usePageSearch();
  const set = useSetSearch();
  const [words, setWords] = useLater(q, (value) => set({ q: value || undefined }, true), TYPING_MS);
  const id = useId();
  const isOnly = show === DIFFERS;
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = values.filter((setting) => {
    const text = `${setting.key} ${valueWords(setting.value)} ${setting.source}`.toLowerCase();
    return (!isOnly || setting.differs) && wanted.every((word) => text.includes(word));
  });
  const tables = [...new Set(shown.map(({ key }) => tableOf(key)))];
  return (
    <>
      <div className={styles.filters}>
        <input
          type="search"
          className={styles.words}
          value={words}
          placeholder="Settings with these words"
          aria-label="Settings with these words"
          maxLength={200}
          onChange={(event) => setWords(event.target.value)}
        />
        <label htmlFor={id} className={styles.check}>
          <input
            id={id}
            type="checkbox"
            checked={isOnly}
            onChange={(event) => set({ show: event.target.checked ? DIFFERS : undefined })}
          />
          only what differs from the default
        </label>
      </div>
      {shown.length === 0 && <Empty says="No setting is like that." />}
      {tables.map((table) => (
        <section key={table} aria-label={table} className={styles.table}>
          <h3>
            <code>[{table}]</code>
          </h3>
          <dl>
            {shown
              .filter(({ key }) => tableOf(key) === table)
              .toSorted((a, b) => Number(b.differs) - Number(a.differs))
              .map((setting) => (
                <SettingLine key={setting.key} setting={setting} />
              ))}
          </dl>
        </section>
      ))}
    </>
  );
}

function SettingLine({ setting: { key, value, source, differs } }: { readonly setting: Setting }) {
  return (
    <div className={styles.setting} data-differs={differs || undefined}>
      <dt>
        <code className={styles.key}>{nameOf(key)}</code>
      </dt>
      <dd className={styles.value}>{value === undefined || value === null ? <em>not set</em> : valueWords(value)}</dd>
      <dd className={styles.source}>
        {differs && <span className={styles.differs}>◆ differs</span>}
        <span>{source}</span>
      </dd>
    </div>
  );
}

function valueWords(value: unknown): string {
  if (value === undefined || value === null) return "not set";
  if (typeof value === "string") return value === "" ? "(empty)" : value;
  if (typeof value === "boolean") return value ? "true" : "false";
  if (Array.isArray(value)) return value.length === 0 ? "(none)" : value.map(valueWords).join(", ");
  if (typeof value === "object") return Object.keys(value).length === 0 ? "(none)" : JSON.stringify(value);
  return String(value);
}
