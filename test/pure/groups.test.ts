/** Group commit: who comes alone waits for nobody, who comes meanwhile shares the next transaction, and nobody fails with another. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemoryError, unavailable } from "../../src/engine/domain/errors.ts";
import { Cancelled } from "../../src/engine/memory/following.ts";
import { openGroups } from "../../src/engine/memory/groups.ts";

interface Write {
  readonly name: string;
  readonly call: { readonly idempotencyKey: string | undefined };
}

const named = (name: string, key?: string): Write => ({ name, call: { idempotencyKey: key } });

/** Carries out groups one after the other, each when it is told to. */
function held() {
  const groups: string[][] = [];
  const ends: (() => void)[] = [];
  const carryOut = async (group: readonly Write[]) => {
    groups.push(group.map(({ name }) => name));
    await new Promise<void>((resolve) => ends.push(resolve));
    return group.map(({ name }) => name.toUpperCase());
  };
  return { groups, carryOut, end: () => ends.shift()?.() };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("group commit", () => {
  it("begins at once, and carries out together what came meanwhile", async () => {
    const { groups, carryOut, end } = held();
    const all = openGroups(() => false);
    const first = all.add("a", named("one"), carryOut);
    const others = ["two", "three"].map((name) => all.add("a", named(name), carryOut));
    const elsewhere = all.add("b", named("other"), carryOut);
    await turn();
    expect(groups).toEqual([["one"], ["other"]]);
    end();
    expect(await first).toBe("ONE");
    await turn();
    expect(groups).toEqual([["one"], ["other"], ["two", "three"]]);
    end();
    end();
    expect(await Promise.all([...others, elsewhere])).toEqual(["TWO", "THREE", "OTHER"]);
  });

  it("waits for company where others read all the time", async () => {
    const { groups, carryOut, end } = held();
    const all = openGroups(() => true);
    const answers = ["one", "two", "three"].map((name) => all.add("a", named(name), carryOut));
    await turn();
    expect(groups).toEqual([]);
    while (groups.length === 0) await turn();
    end();
    expect(await Promise.all(answers)).toEqual(["ONE", "TWO", "THREE"]);
    expect(groups).toEqual([["one", "two", "three"]]);
  });

  it("leaves the second call of a key to the next group", async () => {
    const { groups, carryOut, end } = held();
    const all = openGroups(() => false);
    const answers = [named("one"), named("two", "k"), named("again", "k"), named("three")].map((one) =>
      all.add("a", one, carryOut),
    );
    for (let i = 0; i < 3; i++) {
      await turn();
      end();
    }
    await Promise.all(answers);
    expect(groups).toEqual([["one"], ["two", "three"], ["again"]]);
  });

  it("tells each its own error, and tries each by itself where the group failed", async () => {
    const tries: string[][] = [];
    const all = openGroups(() => false);
    const carryOut = async (group: readonly Write[]) => {
      tries.push(group.map(({ name }) => name));
      if (group.some(({ name }) => name === "poison")) throw new Error("cannot be written");
      return group.map(({ name }) => (name === "refused" ? new MemoryError("conflict", "no") : name));
    };
    const outcomes = await Promise.allSettled(
      ["one", "two", "poison", "refused"].map((name) => all.add("a", named(name), carryOut)),
    );
    expect(outcomes.map((o) => (o.status === "fulfilled" ? o.value : String(o.reason)))).toEqual([
      "one",
      "two",
      "Error: cannot be written",
      "MemoryError: no",
    ]);
    expect(tries).toEqual([["one"], ["two", "poison", "refused"], ["two"], ["poison"], ["refused"]]);
  });

  it("a call that is cancelled at the last moment takes no other with it", async () => {
    const all = openGroups(() => false);
    const carryOut = async (group: readonly Write[]) => {
      if (group.length === 1) return group.map(({ name }) => (name === "cancelled" ? new Cancelled() : name));
      throw new Cancelled();
    };
    const outcomes = await Promise.allSettled(
      ["first", "repeated", "cancelled"].map((name) => all.add("a", named(name), carryOut)),
    );
    expect(outcomes.map((o) => (o.status === "fulfilled" ? o.value : o.reason))).toEqual([
      "first",
      "repeated",
      expect.any(Cancelled),
    ]);
  });

  it("asks a store that is gone once", async () => {
    const all = openGroups(() => false);
    let asked = 0;
    const carryOut = async (): Promise<string[]> => {
      asked += 1;
      throw unavailable("gone");
    };
    const outcomes = await Promise.allSettled(["a", "b", "c"].map((name) => all.add("x", named(name), carryOut)));
    expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
    expect(asked).toBe(2);
  });

  it("answers everybody once", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ kind: fc.constantFrom("a", "b"), key: fc.option(fc.nat(3)), wait: fc.boolean() }), {
          maxLength: 80,
        }),
        async (calls) => {
          const all = openGroups(() => false);
          const order: number[] = [];
          const carryOut = async (group: readonly (Write & { at: number })[]) => {
            expect(group.length).toBeLessThanOrEqual(32);
            const keys = group.flatMap(({ call }) => call.idempotencyKey ?? []);
            expect(new Set(keys).size).toBe(keys.length);
            await turn();
            order.push(...group.map(({ at }) => at));
            return group.map(({ at }) => at);
          };
          const answers: Promise<number>[] = [];
          for (const [at, { kind, key, wait }] of calls.entries()) {
            if (wait) await turn();
            const one = { at, ...named(String(at), key === null ? undefined : String(key)) };
            answers.push(all.add(kind, one, carryOut));
          }
          expect(await Promise.all(answers)).toEqual(calls.map((_, at) => at));
          expect(order.toSorted((a, b) => a - b)).toEqual(calls.map((_, at) => at));
        },
      ),
    );
  });
});
