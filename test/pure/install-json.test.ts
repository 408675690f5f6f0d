import fc from "fast-check";
import { parse } from "jsonc-parser";
import { describe, expect, test } from "vitest";
import { addEntries } from "../../src/hosts/install/edit/json-edit.ts";
import type { JsonEntry } from "../../src/hosts/install/edit/json-entry.ts";
import { takeOut } from "../../src/hosts/install/edit/json-take.ts";
import { choices, looseText, settingsText, writing } from "./install-material.ts";

const entries: readonly JsonEntry[] = [
  { at: ["version"], value: 1, mark: "none", keptFor: "hooks" },
  { at: ["servers", "butler"], value: { command: "node", args: ["butler.js", "mcp"] }, mark: "butler.js" },
  { at: ["enabled", "butler@butler"], value: true, mark: "none" },
  { at: ["hooks", "Start"], append: true, value: { hooks: [{ command: "sh hook.sh Start" }] }, mark: "hook.sh Start" },
  { at: ["hooks", "Stop"], append: true, value: { hooks: [{ command: "sh hook.sh Stop" }] }, mark: "hook.sh Stop" },
];

const file = (text: string, strict = false) => ({ path: "/x/settings.json", text, strict });
const add = (text: string) => addEntries(file(text), entries, [], false);

/** Keys of ours with a sound type now and then, so that containers are found, made and shared. */
const person = fc.record(
  {
    servers: fc.dictionary(fc.constantFrom("other", "mine"), fc.jsonValue(), { maxKeys: 2 }),
    enabled: fc.dictionary(fc.constantFrom("a@b", "c@d"), fc.boolean(), { maxKeys: 2 }),
    hooks: fc.record(
      { Start: fc.array(fc.jsonValue(), { maxLength: 2 }), Other: fc.jsonValue() },
      { requiredKeys: [] },
    ),
    theme: fc.jsonValue(),
    ünï: fc.string(),
  },
  { requiredKeys: [] },
);

describe("adding to a settings file", () => {
  test("what was there is still there, and ours too", () => {
    fc.assert(
      fc.property(person, writing, (value, style) => {
        const before = settingsText(value, style);
        const { text } = add(before);
        const after = parse(text) as Record<string, object | undefined>;
        const was = parse(before) as Record<string, object | undefined>;
        const { Start: _, ...hooks } = (was.hooks ?? {}) as { Start?: unknown };
        expect(after).toMatchObject({
          ...was,
          servers: { ...was.servers, butler: entries[1]!.value },
          enabled: { ...was.enabled, "butler@butler": true },
          hooks: { ...hooks, Stop: [entries[4]!.value] },
        });
        expect((after.hooks as { Start: unknown[] }).Start.at(-1)).toEqual(entries[3]!.value);
      }),
    );
  });

  test("taken out again, every byte is as it was", () => {
    fc.assert(
      fc.property(person, writing, (value, style) => {
        const before = settingsText(value, style);
        const { text, added } = add(before);
        expect(takeOut(file(text), added)).toEqual({ text: before, kept: [] });
      }),
      { numRuns: 400 },
    );
  });

  test("also where comments and line breaks stand in the oddest places", () => {
    fc.assert(
      fc.property(person, choices, (value, picks) => {
        const before = looseText(value, picks);
        const { text, added } = add(before);
        expect(parse(text)).toMatchObject({
          servers: { butler: entries[1]!.value },
          hooks: { Stop: [entries[4]!.value] },
        });
        expect(addEntries(file(text), entries, added, false).text).toBe(text);
        expect(takeOut(file(text), added)).toEqual({ text: before, kept: [] });
      }),
      { numRuns: 300 },
    );
  });

  test("added twice, the second time changes nothing", () => {
    fc.assert(
      fc.property(person, writing, (value, style) => {
        const once = add(settingsText(value, style));
        expect(addEntries(file(once.text), entries, once.added, false)).toEqual(once);
      }),
    );
  });

  test("what the person adds or removes later stays theirs, byte for byte", () => {
    fc.assert(
      fc.property(person, writing, fc.constantFrom("zebra", "apple"), (value, style, name) => {
        const mine: readonly JsonEntry[] = [{ at: [name], value: { kept: [1, 2] }, mark: "kept" }];
        const before = settingsText({ ...value, first: 1 }, style);
        const ours = add(before);
        const changed = addEntries(file(ours.text), mine, [], false);
        const left = takeOut(file(changed.text), ours.added).text;
        expect(left).toBe(addEntries(file(before), mine, [], false).text);
      }),
      { numRuns: 300 },
    );
  });

  test("an agent that writes the whole file anew, in another order, does not keep ours in it", () => {
    fc.assert(
      fc.property(person, writing, (value, style) => {
        const before = settingsText(value, style);
        const { text, added } = add(before);
        const turned = Object.fromEntries(Object.entries(parse(text) as object).reverse());
        const left = takeOut(file(JSON.stringify(turned, undefined, 2)), added);
        expect(left.kept).toEqual([]);
        expect(parse(left.text)).toEqual(parse(before));
      }),
    );
  });

  test("a newer version changes its own parts in place and drops what it no longer wants", () => {
    fc.assert(
      fc.property(person, writing, (value, style) => {
        const before = settingsText(value, style);
        const old = add(before);
        const newer = [
          { ...entries[1]!, value: { command: "node", args: ["new/butler.js", "mcp", "--more"] } },
          { ...entries[4]!, value: { hooks: [{ command: "sh hook.sh Stop", timeout: 9 }] } },
        ];
        const next = addEntries(file(old.text), newer, old.added, false);
        const read = parse(next.text) as { servers: { butler: unknown }; hooks: { Stop: unknown[]; Start?: unknown } };
        expect(read.servers.butler).toEqual(newer[0]!.value);
        expect(read.hooks.Stop).toEqual([newer[1]!.value]);
        expect(takeOut(file(next.text), next.added).text).toBe(before);
      }),
    );
  });
});

describe("what is refused", () => {
  test.each([
    ['{\n  "a": 1,\n  "b": \n}', false, "line 4"],
    ['{\n  // note\n  "a": 1\n}', true, "line 2: it has a comment"],
    ["[]", false, "it holds an array where an object is expected"],
    ['{\n  "servers": "none"\n}', false, 'line 2: "servers" is a string where an object is expected'],
    ['{"hooks": {"Start": {}}}', false, '"hooks.Start" is an object where a list is expected'],
    ['{"hooks": 1,\n"hooks": {}}', false, 'line 2: it has the key "hooks" twice'],
    [
      '{\n"servers": {\n"butler": {"command": "mine"}}}',
      false,
      'line 3: "servers.butler" is there already and is not ours',
    ],
  ])("%j", (text, strict, words) => {
    expect(() => addEntries(file(text, strict), entries, [], false)).toThrow(words);
    expect(() => addEntries(file(text, strict), entries, [], false)).toThrow("/x/settings.json");
  });

  test("with force the other's entry gives way, and comes back", () => {
    const before = '{ "servers": { "butler": {"command": "mine"}, "b": 1 } }';
    const forced = addEntries(file(before), entries.slice(1, 2), [], true);
    expect(parse(forced.text)).toEqual({ servers: { butler: entries[1]!.value, b: 1 } });
    expect(takeOut(file(forced.text), forced.added).text).toBe(before);
  });

  test("an entry the person made their own since is left alone, and named", () => {
    const ours = add("{}");
    const theirs = ours.text.replace(/"butler": \{[^}]*\}/, '"butler": {"command": "mine"}');
    const left = takeOut(file(theirs), ours.added);
    expect(left.kept).toEqual(["servers.butler"]);
    expect(parse(left.text)).toEqual({ servers: { butler: { command: "mine" } } });
  });

  test("an entry of the person that happens to be the same is not taken out", () => {
    const before = '{"servers": {"butler": {"command": "node", "args": ["butler.js", "mcp"]}}}';
    const met = addEntries(file(before), entries.slice(1, 2), [], false);
    expect(met).toEqual({ text: before, added: [] });
  });
});
