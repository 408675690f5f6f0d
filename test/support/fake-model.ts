/** A model that does what a test tells it, whichever way it is asked. */
import type { Extractor } from "../../src/engine/adapters/extractor/port.ts";
import type { Price } from "../../src/engine/adapters/extractor/pricing.ts";

export type Reply =
  | { readonly kind: "say" | "cut off" | "die"; readonly text: string }
  | { readonly kind: "fail"; readonly status: number; readonly message: string }
  | { readonly kind: "refuse" | "hang" };

/** One request as the model saw it. */
export interface Asked {
  readonly system: string;
  readonly turns: readonly { readonly role: string; readonly text: string }[];
  readonly schema: unknown;
}

export interface Settings {
  readonly timeoutMs: number;
  readonly maxOutputTokens: number;
  readonly price: Price;
}

/** A model that does what it is told. Each call is counted as 1,000 tokens in and 100 out. */
export interface FakeModel {
  plan(...replies: readonly Reply[]): void | Promise<void>;
  asked(): readonly Asked[];
  extractor(settings: Settings): Extractor;
  close(): Promise<void>;
  /** Must never be told to anybody. */
  readonly key: string;
}

export const say = (text: string): Reply => ({ kind: "say", text });
export const fail = (status: number, message = "it went wrong"): Reply => ({ kind: "fail", status, message });
