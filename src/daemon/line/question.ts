/** What is asked of an owner, and its answer. Free of Node's types: the declarations of the published library come as far as here. */

export interface OwnerQuestion {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** Sent as JSON; undefined sends none. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface OwnerRequest extends OwnerQuestion {
  readonly socket: string;
}

export interface OwnerReply {
  readonly status: number;
  /** Undefined when the answer has no body (204). */
  readonly json: unknown;
}
