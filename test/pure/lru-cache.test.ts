import fc from "fast-check";
import { expect, it } from "vitest";
import { lruCache } from "../../src/engine/domain/collections/lru-cache.ts";

it("forgets what was asked for or set longest ago", () => {
  const cache = lruCache<string, number>(2);
  cache.set("a", 1);
  cache.set("b", 2);
  expect(cache.get("a")).toBe(1);
  cache.set("c", 3);
  expect(["a", "b", "c"].map((key) => cache.get(key))).toEqual([1, undefined, 3]);
  cache.set("a", 4);
  cache.set("d", 5);
  expect(["a", "c", "d"].map((key) => cache.get(key))).toEqual([4, undefined, 5]);
});

it("knows the last few keys of any sequence", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(9)), fc.integer({ min: 1, max: 5 }), (keys, most) => {
      const cache = lruCache<number, string>(most);
      for (const key of keys) cache.set(key, `${key}`);
      const last = [...new Set(keys.toReversed())];
      for (const key of last.slice(most)) expect(cache.get(key)).toBeUndefined();
      for (const key of last.slice(0, most)) expect(cache.get(key)).toBe(`${key}`);
    }),
  );
});
