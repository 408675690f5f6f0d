/** plugins/mcp.sh before `butler mcp`: an agent cannot tell them apart, and Node is started by the first message that needs it. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { butler, cleanUp, emptyHome, seededHome, variablesFor } from "../support/owner-processes.ts";
import { PatientClient } from "../support/patient-client.ts";

afterAll(cleanUp);

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const BUTLER = at("../../dist/main/butler.js");
const SCRIPT = at("../../plugins/mcp.sh");
const ARGS = ["mcp", "--butler", "general", "--project", "auto", "--hooks"];
const ALONE = { BUTLER_AUTOSTART: "0" };
const NO_NODE = "/no/node/here";

async function run(command: readonly string[], input: string) {
  const [program = "", ...args] = command;
  const env = variablesFor(emptyHome(), ALONE);
  const child = spawn(program, args, { env, stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.on("error", () => undefined);
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => {
    out += part;
  });
  child.stdin.end(input);
  const [code] = await once(child, "close");
  return { code, out };
}

/** Requests under way are answered when they are done. */
const anyOrder = ({ code, out }: { code: unknown; out: string }) => ({ code, out: out.split("\n").toSorted() });

const withNode = (input: string, args: readonly string[] = ARGS) => run([process.execPath, BUTLER, ...args], input);
const withShell = (shell: string, input: string, node = process.execPath, args: readonly string[] = ARGS) =>
  run([shell, SCRIPT, node, BUTLER, ...args], input);

/** The two orders in which the agents' libraries write a message. */
const ORDERS = {
  "method first": (method: string, id?: unknown, params?: unknown) => ({ method, params, jsonrpc: "2.0", id }),
  "params last": (method: string, id?: unknown, params?: unknown) => ({ method, jsonrpc: "2.0", id, params }),
  "id first": (method: string, id?: unknown, params?: unknown) => ({ jsonrpc: "2.0", id, method, params }),
};
type Order = keyof typeof ORDERS;
const lines = (messages: readonly unknown[]) => messages.map((one) => `${JSON.stringify(one)}\n`).join("");

const hello = (protocolVersion: string) => ({
  ...{ protocolVersion, capabilities: { roots: {}, elicitation: {} }, clientInfo: { name: "t", version: "1" } },
});
const LISTS = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];
const VERSIONS = ["2025-11-25", "2025-06-18", "2024-11-05"];

function start(order: Order, version: string): unknown[] {
  const say = ORDERS[order];
  return [
    say("initialize", 0, hello(version)),
    say("notifications/initialized"),
    ...LISTS.map((method, n) => say(method, n + 1, n === 1 ? { _meta: { progressToken: 7 } } : undefined)),
    say("ping", 12_345),
  ];
}

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "t", title: "T", version: "1", websiteUrl: "https://example.org" },
  "io.modelcontextprotocol/clientCapabilities": { roots: { listChanged: true } },
};
const probe = ORDERS["id first"]("server/discover", "server-discover-probe-1", { _meta: META });

/** As the versions since 2026 begin. */
const startModern = (order: Order) => [probe, ...LISTS.map((method, n) => ORDERS[order](method, n, { _meta: META }))];

const shells = ["/bin/sh", "/bin/bash"].filter((shell) => existsSync(shell));

describe.skipIf(shells.length === 0).each(shells)("%s", (shell) => {
  test.each(Object.keys(ORDERS) as Order[])("a session starts without Node, byte for byte (%s)", async (order) => {
    for (const version of VERSIONS) {
      const input = lines(start(order, version));
      const seen = await withShell(shell, input, NO_NODE);
      expect(seen.out.split("\n")).toHaveLength(2 + LISTS.length + 1);
      expect(seen).toEqual(await withNode(input));
    }
  });

  test.each(Object.keys(ORDERS) as Order[])("so does one of the later versions (%s)", async (order) => {
    for (const messages of [startModern(order), startModern(order).slice(1)]) {
      const input = lines(messages);
      const seen = await withShell(shell, input, NO_NODE);
      expect(seen.out.split("\n")).toHaveLength(messages.length + 1);
      expect(seen).toEqual(await withNode(input));
    }
  });

  test("any other beginning is left to Node, with nothing lost", async () => {
    const say = ORDERS["id first"];
    const first = say("initialize", 0, hello("2025-06-18"));
    const strange: unknown[][] = [
      [say("initialize", 0, hello("1999-01-01"))],
      [say("initialize", "a", hello("2025-06-18"))],
      [say("initialize", 0, { ...hello("2025-06-18"), capabilities: { tasks: {} } })],
      [say("initialize", 0, { ...hello("2025-06-18"), clientInfo: { name: 'a "b" \\ $HOME `id` %s', version: "1" } })],
      [say("tools/list", 1), first],
      [first, say("tools/list", 1, { cursor: 5 }), say("ping", 2)],
      [first, first, say("ping", 2)],
      [first, say("tools/list", -1), say("tools/list", 1.5), say("tools/list", 2)],
      [first, say("tools/unknown", 1), say("notifications/unknown"), say("ping", 2)],
      [first, say("tools/call", 1, { name: "memory_search", arguments: { query: `x"\\\n$HOME${"ü".repeat(9_000)}` } })],
      [say("server/discover", 1, { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } })],
      [say("server/discover", 1, { _meta: { ...META, "io.modelcontextprotocol/protocolVersion": "2030-01-01" } })],
      [probe, first, say("tools/list", 1), say("ping", 2)],
      [probe, say("tools/list", "a.b", { _meta: META }), say("ping", 2, { _meta: META })],
      [probe, say("tools/list", 1, { _meta: META }), say("tools/list", 2), first],
      [first, say("tools/list", 1, { _meta: META }), say("tools/list", 2)],
      [probe, say("tools/call", 1, { name: "memory_search", arguments: { query: "tea" }, _meta: META })],
    ];
    for (const messages of strange)
      expect(anyOrder(await withShell(shell, lines(messages)))).toEqual(anyOrder(await withNode(lines(messages))));
    const inputs = ["", "\n", "not JSON\n", `${lines([first])}{"jsonrpc":"2.0","id":3,"method":"ping"}`];
    for (const input of inputs) expect(await withShell(shell, input)).toEqual(await withNode(input));
    const other = ["mcp", "--butler", "it's", "--hooks"];
    expect(await withShell(shell, lines([first]), process.execPath, other)).toEqual(
      await withNode(lines([first]), other),
    );
  });

  test("whatever follows the introduction is answered as by Node", async () => {
    const method = fc.constantFrom(
      ...LISTS,
      "ping",
      "tools/call",
      "notifications/initialized",
      "notifications/cancelled",
    );
    const params = fc.option(
      fc.dictionary(fc.string({ unit: "grapheme", maxLength: 6 }), fc.jsonValue({ maxDepth: 1 })),
      {
        nil: undefined,
      },
    );
    const message = fc
      .tuple(
        fc.constantFrom<Order[]>("id first", "method first"),
        method,
        fc.option(fc.nat(), { nil: undefined }),
        params,
      )
      .map(([order, ...said]) => ORDERS[order](...said));
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 4 }), async (said) => {
        const input = lines([ORDERS["id first"]("initialize", "zero".length, hello("2025-06-18")), ...said]);
        expect(anyOrder(await withShell(shell, input))).toEqual(anyOrder(await withNode(input)));
      }),
      { numRuns: 12, endOnFailure: true },
    );
  });
});

test.skipIf(shells.length === 0)("a real client stores and finds through it, also a long text", async () => {
  const home = await seededHome();
  const client = new PatientClient({ name: "test-agent", version: "1.0.0" });
  const args = [SCRIPT, process.execPath, BUTLER, ...ARGS];
  await client.connect(new StdioClientTransport({ command: "/bin/sh", args, env: variablesFor(home, {}) }));
  await client.listTools();
  const content = `The harbour's sign says "Port Blue" \\ $HOME \`id\` %s. ${"Ünïcode and more. ".repeat(400)}`.trim();
  const stored = await client.callTool({
    name: "memory_store_fact",
    arguments: { subject: "harbour", predicate: "sign", content },
  });
  expect(stored.isError ?? false).toBe(false);
  const found = await client.callTool({ name: "memory_recall", arguments: { topic: "harbour sign" } });
  expect(JSON.stringify(found.content)).toContain("Port Blue");
  await client.close();
  const asked = JSON.stringify({ query: "harbour", scope: "*", explain: true });
  const { stdout } = await butler(home, ["call", "memory_search", "--json", asked]);
  expect(stdout).toContain(JSON.stringify(content).slice(1, -1));
});
