/**
 * Spans for whoever registers a tracing library in this process; without one they cost nothing. Attributes are names, codes and counts: never
 * words of a memory, of a question or of an error.
 */
import { SpanStatusCode, trace } from "@opentelemetry/api";
import { errorCode } from "../domain/errors.ts";

type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface OpenSpan {
  set(attributes: Attributes): void;
  /** It failed, for a reason of this code. */
  fail(type: string): void;
}

const tracer = trace.getTracer("butler-memory");

export function span<T>(name: string, attributes: Attributes, work: (open: OpenSpan) => Promise<T>): Promise<T> {
  return tracer.startActiveSpan(name, { attributes }, async (active) => {
    const open: OpenSpan = {
      set: (more) => void active.setAttributes(more),
      fail(type) {
        active.setAttribute("error.type", type);
        active.setStatus({ code: SpanStatusCode.ERROR });
      },
    };
    try {
      return await work(open);
    } catch (error) {
      open.fail(errorCode(error) ?? "error");
      throw error;
    } finally {
      active.end();
    }
  });
}
