/** The spans of a call, as a tracing library in this process would get them. */
import { AsyncLocalStorage } from "node:async_hooks";
import { type Context, type ContextManager, context, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { afterAll, beforeEach, expect, it } from "vitest";
import { jobs } from "../../src/engine/memory/keep/jobs.ts";
import { jobRunner } from "../../src/engine/memory/keep/run-job.ts";
import { onEachStore } from "../support/stores.ts";

const exporter = new InMemorySpanExporter();
const storage = new AsyncLocalStorage<Context>();
const following: ContextManager = {
  active: () => storage.getStore() ?? ROOT_CONTEXT,
  with: (given, work, self, ...args) => storage.run(given, () => work.call(self as never, ...args)),
  bind: (_, target) => target,
  enable: () => following,
  disable: () => following,
};
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
context.setGlobalContextManager(following);
afterAll(() => {
  trace.disable();
  context.disable();
});
beforeEach(() => exporter.reset());

const childrenOf = (parent: ReadableSpan, all: readonly ReadableSpan[]) =>
  all.filter(({ parentSpanContext }) => parentSpanContext?.spanId === parent.spanContext().spanId);

/** `name > child, child`, in the order of their ends. */
const treeOf = (span: ReadableSpan, all: readonly ReadableSpan[]): unknown => {
  const below = childrenOf(span, all);
  return below.length === 0 ? span.name : { [span.name]: below.map((child) => treeOf(child, all)) };
};
const roots = (all: readonly ReadableSpan[]) => all.filter(({ parentSpanContext }) => parentSpanContext === undefined);

const MARK = "zanzibarine";

onEachStore("spans", (open) => {
  it("a search is one span with its embedding, its statements and its reranking below it", async () => {
    const rig = await open();
    await rig.call("memory_store_fact", { subject: "dns", predicate: "provider", content: "Route 53" });
    await rig.settled();
    exporter.reset();
    await rig.call("memory_search", { query: "dns provider" }, { door: "mcp" });
    const spans = exporter.getFinishedSpans();
    const [root] = roots(spans);
    expect(treeOf(root!, spans)).toEqual({
      "tool memory_search": [{ "search question": ["embed"] }, "search candidates", "rerank"],
    });
    expect(root?.attributes).toEqual({
      "butler.name": "general",
      "butler.door": "mcp",
      "gen_ai.tool.name": "memory_search",
    });
  });

  it("a run of consolidation is a job with its batches below it", async () => {
    const rig = await open({ model: false });
    await rig.call("memory_store_episode", { content: `I live in ${MARK} now.`, butler: "general" });
    exporter.reset();
    await jobRunner(rig.memory, jobs).runNow("consolidate", { dryRun: false, interrupted: () => false });
    const spans = exporter.getFinishedSpans();
    const job = spans.find(({ name }) => name === "job");
    expect(job?.attributes).toMatchObject({ job: "consolidate", trigger: "manual", state: "done" });
    expect(childrenOf(job!, spans).map(({ name }) => name)).toContain("consolidation");
  });

  it("a refusal has its code, and no span has a word of a memory, a question or an error", async () => {
    const rig = await open({ model: false });
    await rig.call("memory_store_fact", { subject: MARK, predicate: "kind", content: `a ${MARK}` });
    await rig.call("memory_store_episode", { content: `We talked of ${MARK}.`, butler: "general", session_id: MARK });
    await rig.call("memory_context", { trigger_prompt: MARK, butler: "general" });
    await rig.refused("memory_search", { query: MARK, [MARK]: 1 });
    await rig.refused(`memory_${MARK}`, {});
    const { spanContext: _, ...failed } = exporter.getFinishedSpans().find(({ status }) => status.code === 2)!;
    expect(failed.attributes).toMatchObject({ "error.type": "invalid_input" });
    const told = exporter.getFinishedSpans().map(({ name, attributes, events, status }) => ({
      ...{ name, attributes, events, status },
    }));
    expect(told.length).toBeGreaterThan(5);
    expect(JSON.stringify(told)).not.toContain(MARK);
  });
});
