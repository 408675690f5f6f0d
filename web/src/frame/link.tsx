/** A link inside the pages. It keeps the chosen day. */
import { Link, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useDay } from "./as-of.ts";
import type { PageSearch } from "./search-params.ts";

interface To {
  readonly to: string;
  readonly search?: PageSearch | undefined;
  readonly className?: string | undefined;
  readonly title?: string | undefined;
  readonly children: ReactNode;
  /** One of several links to the same page: what stands behind its `?` tells which is chosen. */
  readonly exact?: boolean;
  readonly "aria-label"?: string;
  readonly "aria-current"?: "page" | undefined;
  readonly "data-row"?: boolean;
}

export function A({ to, search, children, exact = false, ...rest }: To) {
  const day = useDay();
  return (
    <Link
      to={to}
      search={{ ...search, ...(day === undefined ? {} : { as_of: day }) } as never}
      activeOptions={{ exact }}
      {...rest}
    >
      {children}
    </Link>
  );
}

/** The butler of this page; undefined on the pages of all. */
export const useButler = (): string | undefined => (useParams({ strict: false }) as { name?: string }).name;

export const butlerPath = (butler: string, page = ""): string =>
  `/butlers/${encodeURIComponent(butler)}/memory${page === "" ? "" : `/${page}`}`;

export const memoryHref = (butler: string, id: string): string => butlerPath(butler, `m/${encodeURIComponent(id)}`);
