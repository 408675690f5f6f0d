/** What stands around every page: the rail of butlers and pages, the header, and the band when an earlier day is looked at. */
import { Outlet, useRouterState } from "@tanstack/react-router";
import { Tooltip } from "radix-ui";
import { Suspense, useEffect, useRef } from "react";
import { Loading } from "../parts/loading.tsx";
import { DayBand } from "./day-chooser.tsx";
import styles from "./frame.module.css";
import { Header } from "./header.tsx";
import { useButler } from "./link.tsx";
import { useLive } from "./live.ts";
import { BottomBar, Rail } from "./rail.tsx";
import { Shortcuts } from "./shortcuts.tsx";

export function Frame() {
  const butler = useButler();
  useLive(butler);
  return (
    <Tooltip.Provider delayDuration={300}>
      <a className={styles.skip} href="#content">
        Skip to the content
      </a>
      <div className={styles.frame}>
        <Rail butler={butler} />
        <div className={styles.main}>
          <Header butler={butler} />
          <DayBand />
          <Content />
        </div>
      </div>
      <BottomBar butler={butler} />
      <Shortcuts butler={butler} />
    </Tooltip.Provider>
  );
}

/** After a change of page the reading position is its beginning, for those who do not see it too. */
function Content() {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const content = useRef<HTMLElement>(null);
  const last = useRef(path);
  useEffect(() => {
    if (last.current !== path) content.current?.focus({ preventScroll: true });
    last.current = path;
  }, [path]);
  return (
    <main id="content" className={styles.content} tabIndex={-1} ref={content}>
      <Suspense fallback={<Loading />}>
        <Outlet />
      </Suspense>
    </main>
  );
}
