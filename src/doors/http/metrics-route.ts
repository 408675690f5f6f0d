/** `/metrics`: the numbers of all butlers for Prometheus. Names of butlers are private, so a token is needed unless the operator says otherwise. */
import type { Context } from "hono";
import { type Principal, TENANT_OF_BUTLER } from "../backend.ts";
import { type DoorEnv, refuse, turnAway } from "./guards.ts";

export interface MetricsDoor {
  /** Answered without a token too (`BUTLER_METRICS=open`). */
  readonly open: boolean;
  read(): Promise<{ readonly type: string; readonly text: string }>;
}

export async function answerMetrics(metrics: MetricsDoor, c: Context<DoorEnv>): Promise<Response> {
  const { type, text } = await metrics.read();
  return c.body(text, 200, { "Content-Type": type });
}

/** The numbers are of every butler and every tenant: a token of one of them may not read them. */
export async function answerMetricsTo(
  principal: Principal,
  metrics: MetricsDoor | undefined,
  c: Context<DoorEnv>,
): Promise<Response> {
  if (principal.butler !== "*" || principal.tenant !== TENANT_OF_BUTLER || principal.scopes !== undefined) {
    const message =
      "Metrics are of all butlers; make a token for that: butler token create --name prometheus --reader.";
    return turnAway(c, { code: "forbidden", message, field: "role" });
  }
  if (metrics !== undefined) return answerMetrics(metrics, c);
  return refuse(c, { code: "unavailable", message: "Nothing is measured here; butler up does." });
}
