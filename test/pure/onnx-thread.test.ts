import { EventEmitter } from "node:events";
import { expect, it } from "vitest";
import { silentLog } from "../../src/engine/adapters/log.ts";
import { openOnnxThread } from "../../src/engine/adapters/threads/onnx-thread.ts";

interface Sent {
  readonly id: number;
  readonly text: string;
}
interface Answer {
  readonly id: number;
  readonly said: string;
}

/** A thread that answers when it is told to, the oldest question first. */
class Host extends EventEmitter {
  readonly got: Sent[] = [];
  postMessage(message: Sent | { kind: "close" }): void {
    if ("kind" in message) this.emit("exit", 0);
    else this.got.push(message);
  }
  unref(): void {}
  answerFirst(): void {
    const first = this.got.shift();
    this.emit("message", { id: first?.id, said: first?.text.toUpperCase() });
  }
}

async function opened() {
  const hosts: Host[] = [];
  const thread = await openOnnxThread<{ text: string }, Answer>({
    name: "test",
    log: silentLog,
    apart: true,
    start: () => {
      const host = new Host();
      hosts.push(host);
      queueMicrotask(() => host.emit("message", { kind: "ready" }));
      return host as never;
    },
  });
  const ask = (text: string, priority: "query" | "write" = "query") =>
    thread.ask({ text }, priority).then(({ said }) => said);
  const texts = () => hosts.at(-1)?.got.map(({ text }) => text);
  return { thread, hosts, ask, texts, host: () => hosts.at(-1) as Host };
}

it("gets the next query while it works on one, and no more than that", async () => {
  const { thread, ask, texts, host } = await opened();
  const asked = ["a", "b", "c"].map((text) => ask(text));
  expect(texts()).toEqual(["a", "b"]);
  expect(thread.pending).toBe(3);
  host().answerFirst();
  expect(texts()).toEqual(["b", "c"]);
  host().answerFirst();
  host().answerFirst();
  expect(await Promise.all(asked)).toEqual(["A", "B", "C"]);
  expect(thread.pending).toBe(0);
  await thread.close();
});

it("gets a write when it has nothing else, so that a query finds one text before it at most", async () => {
  const { thread, ask, texts, host } = await opened();
  const asked = [ask("w1", "write"), ask("w2", "write"), ask("q1"), ask("q2")];
  expect(texts()).toEqual(["w1", "q1"]);
  host().answerFirst();
  expect(texts()).toEqual(["q1", "q2"]);
  host().answerFirst();
  expect(texts()).toEqual(["q2"]);
  host().answerFirst();
  expect(texts()).toEqual(["w2"]);
  host().answerFirst();
  expect(await Promise.all(asked)).toEqual(["W1", "W2", "Q1", "Q2"]);
  await thread.close();
});

it("tells whoever waits when it dies, with what was sent ahead, and is started again for the next", async () => {
  const { thread, ask, texts, hosts, host } = await opened();
  const asked = Promise.allSettled([ask("a"), ask("b"), ask("c")]);
  host().emit("exit", 1);
  expect((await asked).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect([thread.ready, thread.pending]).toEqual([false, 0]);
  const again = ask("d");
  await new Promise(setImmediate);
  expect([hosts.length, texts()]).toEqual([2, ["d"]]);
  host().answerFirst();
  expect(await again).toBe("D");
  await thread.close();
});
