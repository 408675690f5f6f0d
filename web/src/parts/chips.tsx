/** Filters as chips that are part of the address. */
import { DropdownMenu } from "radix-ui";
import { usePageSearch, useSetSearch } from "../frame/search-params.ts";
import styles from "./chips.module.css";

export interface Filter {
  /** As the address and the API name it. */
  readonly key: string;
  readonly label: string;
  readonly options: readonly (readonly [value: string, words: string])[];
  /** What holds when nothing is chosen. */
  readonly unset: string;
}

export function Chips({ filters, words }: { readonly filters: readonly Filter[]; readonly words?: string }) {
  const search = usePageSearch();
  const set = useSetSearch();
  const chosen = filters.filter(({ key }) => search[key] !== undefined);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a row in every browser.
    <div className={styles.chips} role="group" aria-label="Filters">
      {words !== undefined && <Words key={search.q ?? ""} placeholder={words} />}
      {filters.map((filter) => (
        <Chip
          key={filter.key}
          filter={filter}
          value={search[filter.key]}
          choose={(value) => set({ [filter.key]: value })}
        />
      ))}
      {chosen.length > 0 && (
        <button
          type="button"
          className={styles.clear}
          onClick={() => set(Object.fromEntries(chosen.map(({ key }) => [key, undefined])))}
        >
          Clear
        </button>
      )}
    </div>
  );
}

interface ChipParts {
  readonly filter: Filter;
  readonly value: string | undefined;
  readonly choose: (value: string | undefined) => void;
}

const UNSET = "";

function Chip({ filter: { label, options, unset }, value, choose }: ChipParts) {
  const words = options.find(([known]) => known === value)?.[1] ?? value ?? unset;
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger className={styles.chip} data-chosen={value !== undefined}>
        <span className={styles.label}>{label}</span> {words} <span aria-hidden>▾</span>
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className={styles.menu} align="start" sideOffset={6}>
          <DropdownMenu.RadioGroup
            value={value ?? UNSET}
            onValueChange={(next) => choose(next === UNSET ? undefined : next)}
          >
            {[[UNSET, unset] as const, ...options].map(([known, said]) => (
              <DropdownMenu.RadioItem key={known} value={known} className={styles.option}>
                <DropdownMenu.ItemIndicator className={styles.tick}>✓</DropdownMenu.ItemIndicator>
                {said}
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

function Words({ placeholder }: { readonly placeholder: string }) {
  const { q } = usePageSearch();
  const set = useSetSearch();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const words = new FormData(event.currentTarget).get("words");
        set({ q: typeof words === "string" && words.trim() !== "" ? words.trim() : undefined });
      }}
    >
      <input
        name="words"
        type="search"
        className={styles.words}
        defaultValue={q}
        placeholder={placeholder}
        aria-label={placeholder}
        maxLength={400}
        onChange={(event) => event.target.value === "" && q !== undefined && set({ q: undefined })}
      />
    </form>
  );
}
