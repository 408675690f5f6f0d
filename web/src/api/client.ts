/** Calls of the API. What the daemon refuses is an `ApiError` with its words, which a page shows as they are. */
import type { ApiFailure } from "../../../src/doors/http/api/types.ts";

export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly field: string | undefined;

  constructor(status: number, failure: Pick<ApiFailure, "code" | "message"> & { readonly field?: string }) {
    super(failure.message);
    this.status = status;
    this.code = failure.code;
    this.field = failure.field;
  }
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export const memoryPath = (butler: string, path: string): string =>
  `/api/butlers/${encodeURIComponent(butler)}/memory/${path}`;

export function withQuery(path: string, query: Query = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

export const getJson = <T>(path: string, query?: Query, signal?: AbortSignal, project?: string): Promise<T> =>
  request<T>(withQuery(path, query), {
    ...(signal === undefined ? {} : { signal }),
    ...(project === undefined ? {} : { headers: { "X-Butler-Project": project } }),
  });

interface Sending {
  /** Sent on although the page is being left. */
  readonly keepalive?: boolean;
  readonly key?: string;
  /** The project that is asked in. */
  readonly project?: string | undefined;
  readonly signal?: AbortSignal;
}

export const postJson = <T>(path: string, body: unknown = {}, { key, project, ...sending }: Sending = {}): Promise<T> =>
  request<T>(path, {
    ...sending,
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      ...(key === undefined ? {} : { "Idempotency-Key": key }),
      ...(project === undefined ? {} : { "X-Butler-Project": project }),
    },
    body: JSON.stringify(body),
  });

export const deleteJson = <T>(path: string): Promise<T> => request<T>(path, { method: "DELETE" });

async function request<T>(path: string, init: RequestInit): Promise<T> {
  const response = await fetch(path, { ...init, credentials: "same-origin" }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, { code: "unavailable", message: "The daemon does not answer. Is “butler up” running?" });
  });
  const text = await response.text();
  const body = read(text);
  if (response.ok && body !== undefined) return body as T;
  const { error } = (body ?? {}) as { error?: ApiFailure };
  throw new ApiError(
    response.status,
    error ?? {
      code: "unavailable",
      message: `The daemon gave an answer that is not JSON (status ${response.status}).`,
    },
  );
}

function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
