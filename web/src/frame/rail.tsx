/** The butlers, and the pages of the chosen one; on a narrow screen a bar of five at the bottom. */
import { useQuery } from "@tanstack/react-query";
import { useRouterState } from "@tanstack/react-router";
import { DropdownMenu } from "radix-ui";
import { countsQuery, fleetHealthQuery, sessionQuery } from "../api/queries.ts";
import { isOpening } from "../parts/standing.ts";
import { compact } from "../parts/words.ts";
import { A, butlerPath } from "./link.tsx";
import { FLEET_PAGES, isActive, PAGES, type RailPage } from "./pages.ts";
import styles from "./rail.module.css";

interface Of {
  readonly butler: string | undefined;
}

export function Rail({ butler }: Of) {
  return (
    <nav className={styles.rail} aria-label="Butlers and pages">
      <A to="/memory" className={styles.brand}>
        Butler Memory
      </A>
      <Butlers butler={butler} />
      <hr className={styles.rule} />
      <Pages butler={butler} />
    </nav>
  );
}

/** ● well, ▲ not well, ○ nobody knows: told by shape and word, not by colour alone. */
function useStanding(): (name: string) => { readonly sign: string; readonly word: string } {
  const { data } = useQuery(fleetHealthQuery);
  return (name) => {
    const told = data?.butlers.find((one) => one.name === name);
    if (told === undefined) return { sign: "○", word: "not asked yet" };
    if (!told.ok || told.answer.store === "unknown") return { sign: "○", word: "unknown" };
    if (told.answer.store === "off") return { sign: "○", word: "without memory" };
    if (isOpening(told.answer)) return { sign: "○", word: "opening" };
    return told.answer.ok ? { sign: "●", word: "well" } : { sign: "▲", word: "not well" };
  };
}

function Butlers({ butler }: Of) {
  const { data } = useQuery(sessionQuery);
  const standing = useStanding();
  return (
    <ul>
      <li>
        <A to="/memory" className={classOf(butler === undefined)}>
          <span className={styles.sign}>▦</span>
          All butlers
        </A>
      </li>
      {data?.butlers.map(({ name }) => {
        const { sign, word } = standing(name);
        return (
          <li key={name}>
            <A to={butlerPath(name)} className={classOf(name === butler)} title={word}>
              <span className={styles.sign} data-word={word} aria-hidden>
                {sign}
              </span>
              {name}
              <span className="visually-hidden">, {word}</span>
            </A>
          </li>
        );
      })}
    </ul>
  );
}

const classOf = (chosen: boolean): string => `${styles.item} ${chosen ? styles.chosen : ""}`;

function Pages({ butler }: Of) {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const counts = useCounts(butler);
  const pages = butler === undefined ? FLEET_PAGES : PAGES;
  return (
    <ul>
      {pages.map((page) => {
        const to = hrefOf(page, butler);
        const count = counts[page.name];
        return (
          <li key={page.name}>
            <A to={to} className={classOf(isActive(path, to, page))}>
              {page.name}
              {count !== undefined && <span className={styles.count}>{count}</span>}
            </A>
          </li>
        );
      })}
    </ul>
  );
}

const hrefOf = ({ path }: RailPage, butler: string | undefined): string =>
  butler === undefined ? `/memory${path === "" ? "" : `/${path}`}` : butlerPath(butler, path);

function useCounts(butler: string | undefined): Readonly<Record<string, string | undefined>> {
  const { data } = useQuery({ ...countsQuery(butler ?? ""), enabled: butler !== undefined });
  const standing = useStanding();
  if (butler === undefined) return {};
  return {
    Facts: data && compact(data.facts),
    Rules: data && compact(data.rules),
    Episodes: data && compact(data.episodes),
    Health: standing(butler).word === "well" ? "ok" : standing(butler).sign,
  };
}

const IN_BAR = ["Today", "Search", "Facts", "Rules"];

export function BottomBar({ butler }: Of) {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const { data } = useQuery(sessionQuery);
  const pages = butler === undefined ? FLEET_PAGES : PAGES;
  const inBar = pages.filter(({ name }) => IN_BAR.includes(name) || butler === undefined);
  return (
    <nav className={styles.bar} aria-label="Pages">
      {inBar.map((page) => {
        const to = hrefOf(page, butler);
        return (
          <A key={page.name} to={to} className={`${styles.tab} ${isActive(path, to, page) ? styles.chosen : ""}`}>
            {page.name}
          </A>
        );
      })}
      <DropdownMenu.Root modal={false}>
        <DropdownMenu.Trigger className={styles.tab}>More</DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content className={styles.menu} side="top" align="end" sideOffset={8}>
            {pages
              .filter((page) => !inBar.includes(page))
              .map((page) => (
                <DropdownMenu.Item key={page.name} asChild>
                  <A to={hrefOf(page, butler)} className={styles.menuItem}>
                    {page.name}
                  </A>
                </DropdownMenu.Item>
              ))}
            <DropdownMenu.Separator className={styles.rule} />
            <DropdownMenu.Item asChild>
              <A to="/memory" className={styles.menuItem}>
                All butlers
              </A>
            </DropdownMenu.Item>
            {data?.butlers.map(({ name }) => (
              <DropdownMenu.Item key={name} asChild>
                <A to={butlerPath(name)} className={styles.menuItem}>
                  {name}
                </A>
              </DropdownMenu.Item>
            ))}
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
    </nav>
  );
}
