import fc from "fast-check";
import { parse, stringify } from "smol-toml";
import { describe, expect, test } from "vitest";
import { addTable, type TomlTable, takeTable } from "../../src/hosts/install/edit/toml-edit.ts";

const table: TomlTable = {
  at: ["mcp_servers", "butler-memory"],
  values: { command: "/usr/bin/node", args: ["/a b/butler.js", "mcp", 'quo"te'], env: { BUTLER_HOME: "/h" } },
  comment: "Butler Memory",
};
const file = (text: string) => ({ path: "/x/config.toml", text });

const word = fc.stringMatching(/^[a-z]{1,8}$/);
const person = fc
  .record(
    {
      model: fc.string(),
      notify: fc.array(fc.string(), { maxLength: 3 }),
      mcp_servers: fc.dictionary(word, fc.record({ command: fc.string() }), { maxKeys: 2 }),
      features: fc.dictionary(word, fc.boolean(), { maxKeys: 2 }),
    },
    { requiredKeys: [] },
  )
  .chain((value) =>
    fc
      .record({
        crlf: fc.boolean(),
        top: fc.constantFrom("", "# mine\n\n"),
        end: fc.constantFrom("", "\n", "\n\n", "# last"),
      })
      .map(({ crlf, top, end }) => {
        const text = `${top}${stringify(value)}${end}`;
        return crlf ? text.replaceAll("\n", "\r\n") : text;
      }),
  );

describe("our table in a TOML file", () => {
  test("stands there beside everything else, and goes without a trace", () => {
    fc.assert(
      fc.property(person, (before) => {
        const { text, added } = addTable(file(before), table, undefined, false);
        const { mcp_servers: servers, ...rest } = parse(text) as { mcp_servers: Record<string, unknown> };
        const { mcp_servers: were, ...was } = parse(before) as { mcp_servers?: Record<string, unknown> };
        expect(servers).toEqual({ ...were, "butler-memory": table.values });
        expect(rest).toEqual(was);
        expect(text.startsWith(before)).toBe(true);
        expect(takeTable(file(text), added!)).toBe(before);
      }),
    );
  });

  test("twice changes nothing, a newer one changes its own lines only", () => {
    fc.assert(
      fc.property(person, word, (before, later) => {
        const once = addTable(file(before), table, undefined, false);
        expect(addTable(file(once.text), table, once.added, false)).toEqual(once);
        const changed = `${once.text}\n[${later}_of_mine]\na = 1\n`;
        const newer = { ...table, values: { command: "butler" } };
        const next = addTable(file(changed), newer, once.added, false);
        expect((parse(next.text) as { mcp_servers: object }).mcp_servers).toMatchObject({
          "butler-memory": newer.values,
        });
        expect(takeTable(file(next.text), next.added!)).toBe(`${before}\n[${later}_of_mine]\na = 1\n`);
      }),
    );
  });

  test("lines that a program put between ours and the end stay", () => {
    const once = addTable(file('model = "x"\n'), table, undefined, false);
    const rewritten = `${once.text.replace("command", "startup_timeout_sec = 5\ncommand")}\n[hooks.state."k"]\ntrusted_hash = "h"\n`;
    expect(takeTable(file(rewritten), once.added!)).toBe('model = "x"\n\n[hooks.state."k"]\ntrusted_hash = "h"\n');
  });

  test.each([
    ["a = 1\nb = = 2\n", "line 2: it does not parse"],
    ["mcp_servers = 3\n", 'line 1: "mcp_servers" is not a table'],
    ["a = 1\nmcp_servers = { }\n", 'line 2: "mcp_servers" is written in a way'],
    [
      '[mcp_servers.butler-memory]\ncommand = "mine"\n',
      'line 1: "mcp_servers.butler-memory" is there already and is not ours',
    ],
  ])("refused: %j", (text, words) => {
    expect(() => addTable(file(text), table, undefined, false)).toThrow(`/x/config.toml, ${words}`);
  });

  test("with force the other's table gives way", () => {
    const before =
      '[mcp_servers.butler-memory]\ncommand = "mine"\n[mcp_servers.butler-memory.env]\nA = "b"\n\n[other]\nx = 1\n';
    const { text } = addTable(file(before), table, undefined, true);
    expect(parse(text)).toEqual({ other: { x: 1 }, mcp_servers: { "butler-memory": table.values } });
  });

  test("a table of the person that says the same is not ours to take out", () => {
    const text = stringify({ mcp_servers: { "butler-memory": table.values } });
    expect(addTable(file(text), table, undefined, false)).toEqual({ text });
  });
});
