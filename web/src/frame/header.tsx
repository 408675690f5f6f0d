/** Search everything, the day that is looked at, help, and the colours. */
import { useNavigate } from "@tanstack/react-router";
import { DropdownMenu } from "radix-ui";
import { useEffect, useState } from "react";
import { useDay } from "./as-of.ts";
import { DayChooser } from "./day-chooser.tsx";
import styles from "./header.module.css";
import { butlerPath } from "./link.tsx";
import { usePageSearch } from "./search-params.ts";
import { openHelp } from "./shortcuts.tsx";
import { chooseTheme, chosenTheme, THEMES, type Theme } from "./theme.ts";

export function Header({ butler }: { readonly butler: string | undefined }) {
  return (
    <header className={styles.header}>
      <SearchBox key={butler ?? ""} butler={butler} />
      <div className={styles.tools}>
        <DayChooser />
        <button
          type="button"
          className={styles.tool}
          onClick={openHelp}
          aria-label="Keys and help"
          title="Keys and help (?)"
        >
          ?
        </button>
        <ThemeMenu />
      </div>
    </header>
  );
}

function SearchBox({ butler }: { readonly butler: string | undefined }) {
  const { q = "" } = usePageSearch();
  const day = useDay();
  const [words, setWords] = useState(q);
  const navigate = useNavigate();
  useEffect(() => setWords(q), [q]);
  const to = butler === undefined ? "/memory/search" : butlerPath(butler, "search");
  return (
    <search className={styles.search}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (words.trim() !== "")
            void navigate({ to, search: { q: words, ...(day === undefined ? {} : { as_of: day }) } as never });
        }}
      >
        <input
          id="search"
          type="search"
          value={words}
          onChange={(event) => setWords(event.target.value)}
          placeholder={butler === undefined ? "Search all butlers …" : `Search ${butler} …`}
          aria-label={butler === undefined ? "Search all butlers" : `Search what ${butler} knows`}
          enterKeyHint="search"
          autoComplete="off"
          maxLength={4000}
        />
        <kbd aria-hidden>/</kbd>
      </form>
    </search>
  );
}

const THEME_WORDS: Readonly<Record<Theme, string>> = { system: "As the system", light: "Light", dark: "Dark" };

function ThemeMenu() {
  const [theme, setTheme] = useState(chosenTheme);
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger className={styles.tool} aria-label={`Colours: ${THEME_WORDS[theme]}`} title="Colours">
        ◐
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className={styles.menu} align="end" sideOffset={6}>
          <DropdownMenu.RadioGroup
            value={theme}
            onValueChange={(value) => {
              const chosen = THEMES.find((one) => one === value) ?? "system";
              chooseTheme(chosen);
              setTheme(chosen);
            }}
          >
            {THEMES.map((one) => (
              <DropdownMenu.RadioItem key={one} value={one} className={styles.menuItem}>
                <DropdownMenu.ItemIndicator className={styles.tick}>✓</DropdownMenu.ItemIndicator>
                {THEME_WORDS[one]}
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
