import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inputSchema } from "../../src/doors/mcp/advertise.ts";
import { toolNamed, tools } from "../../src/engine/tools/index.ts";
import { CASES, ID, nested, raw, request } from "../support/bad-values.ts";
import { openRealHost, type RealHost, type Reply, rowCounts } from "../support/real-host.ts";

let real: RealHost;
let before: Record<string, string>;

beforeAll(async () => {
  real = await openRealHost();
  await good();
  before = await rowCounts(real.rig.db);
});
afterAll(() => real.close());

let stored = 0;
/** A good call: proof that the owner still answers. */
async function good(): Promise<void> {
  stored += 1;
  const kept = await real.post(
    "memory_store_fact",
    JSON.stringify({ subject: "user", predicate: `cup ${stored}`, content: "blue" }),
  );
  expect(kept).toMatchObject({ status: 200, body: { status: "created" } });
  const found = await real.post("memory_search", JSON.stringify({ query: "blue", limit: 200 }));
  expect(found.body.results).toHaveLength(stored);
  await real.rig.settled();
}

function json(input: Readonly<Record<string, unknown>>): string {
  const fields = Object.entries(input).map(([key, value]) => {
    const isRaw = typeof value === "object" && value !== null && "raw" in value;
    return `${JSON.stringify(key)}:${isRaw ? value.raw : JSON.stringify(value)}`;
  });
  return `{${fields.join(",")}}`;
}

/** Refused with a sentence for people, and nothing stored. */
async function expectRefusal(reply: Reply, code: string, field: string | undefined): Promise<void> {
  const { error } = reply.body;
  expect(error, JSON.stringify(reply.body).slice(0, 300)).toMatchObject({
    code,
    ...(field === undefined ? {} : { field }),
  });
  expect(reply.status).toBe(code === "forbidden" ? 403 : 400);
  expectSentence(error.message);
  expect(await rowCounts(real.rig.db)).toEqual(before);
}

function expectSentence(message: string): void {
  expect(message).toMatch(/^[^\n]{10,240}[.?]$/);
  expect(message).not.toMatch(
    /expected|received|undefined|Invalid input|Too (big|small)|\[object|zod|null$| at \S+\.[jt]s/i,
  );
}

describe.each(Object.entries(CASES))("%s", (tool, { good: fine, bad }) => {
  it("has a table for every argument", () => {
    const known = toolNamed(tool);
    if (known === undefined) throw new Error(`no tool ${tool}`);
    expect(Object.keys({ ...bad, request_context: request }).toSorted()).toEqual(
      Object.keys(inputSchema(known).properties ?? {}).toSorted(),
    );
  });

  it.each(Object.entries({ ...bad, request_context: request }))("refuses a bad %s by name", async (field, values) => {
    for (const [why, value, place] of values) {
      // Null for an argument that may be left out is taken as leaving it out.
      if (value === null && !Object.hasOwn(fine, field)) continue;
      const reply = await real.post(tool, json({ ...fine, [field]: value }));
      await expectRefusal(reply, "invalid_input", place ?? field).catch((error: Error) => {
        error.message = `${field}, ${why}: ${error.message}`;
        throw error;
      });
    }
  });

  it("refuses what is no object, what is missing and what is unknown", async () => {
    for (const body of ["null", "[]", '"text"', "42", "true"])
      await expectRefusal(await real.post(tool, body), "invalid_input", undefined);
    for (const name of Object.keys(fine)) {
      const { [name]: _, ...rest } = fine;
      const reply = await real.post(tool, json(rest));
      await expectRefusal(reply, "invalid_input", name);
      expect(reply.body.error.message).toBe(`${name}: is missing.`);
      // A misspelt argument is named, not the one that is missing because of it.
      await expectRefusal(await real.post(tool, json({ ...rest, [`${name}x`]: "x" })), "invalid_input", `${name}x`);
    }
    const unknown = await real.post(tool, json({ ...fine, colour: "red" }));
    await expectRefusal(unknown, "invalid_input", "colour");
    expect(unknown.body.error.message).toBe('unknown argument "colour"; leave it out.');
    await expectRefusal(await real.post(tool, json({ ...fine, __proto__x: raw("1") })), "invalid_input", "__proto__x");
    await expectRefusal(
      await real.post(
        tool,
        `{"__proto__":{"admin":true}${json(fine).replace("{", Object.keys(fine).length > 0 ? "," : "")}`,
      ),
      "invalid_input",
      "__proto__",
    );
    await expectRefusal(await real.post(tool, json({ ...fine, tenant: "other" })), "invalid_input", "tenant");
  });
});

it("has a case for every tool", () => {
  expect(Object.keys(CASES).toSorted()).toEqual(tools.map(({ name }) => name).toSorted());
});

describe("words", () => {
  it.each([
    ["memory_search", { query: "x", limit: 0 }, "limit: must be at least 1."],
    ["memory_search", { query: "x", limit: 1e9 }, "limit: must be at most 200."],
    ["memory_search", { query: "x", limit: 1.5 }, "limit: must be a whole number, not 1.5."],
    ["memory_search", { query: "x", types: ["foo"] }, 'types.0: "foo" is not one of episode, fact, rule.'],
    ["memory_search", { query: "x", types: [] }, "types: must have at least 1 entry."],
    ["memory_search", { query: 5 }, "query: must be text, not 5."],
    ["memory_search", { query: "x", explain: "yes" }, 'explain: must be true or false, not "yes".'],
    ["memory_store_episode", { content: "x", importance: 11 }, "importance: must be at most 10."],
    ["memory_store_episode", { content: "x", metadata: [] }, "metadata: must be an object, not a list."],
    ["memory_store_episode", { content: "x", tags: "a" }, 'tags: must be a list, not "a".'],
    [
      "memory_get",
      { id: "x" },
      "id: is not an id; ids look like 0198c0de-1234-7abc-8def-0123456789ab, or in short like k3v9q2ab.",
    ],
    ["memory_stats", null, "the input must be an object, not null."],
  ])("%s %j", async (tool, input, message) => {
    const { body } = await real.post(tool, JSON.stringify(input));
    expect(body.error.message).toBe(message);
  });
});

describe("rights", () => {
  it.each(["memory_search", "memory_recall", "memory_stats", "memory_activity_stream"])(
    "%s keeps to the caller's scopes",
    async (tool) => {
      const { good: fine = {} } = CASES[tool] ?? {};
      await expectRefusal(await real.post(tool, json({ ...fine, scope: "*" })), "forbidden", "scope");
      await expectRefusal(await real.post(tool, json({ ...fine, scope: "travel" })), "forbidden", "scope");
      await expectRefusal(await real.post(tool, json({ ...fine, scope: "genera" })), "forbidden", "scope");
      const all = await real.post(tool, json({ ...fine, scope: "*" }), { token: "admin" });
      expect(all.status).toBe(200);
      await real.rig.settled();
    },
  );

  it.each(["memory_store_fact", "memory_store_rule"])(
    "%s writes to no foreign scope and never to all",
    async (tool) => {
      const { good: fine = {} } = CASES[tool] ?? {};
      await expectRefusal(await real.post(tool, json({ ...fine, scope: "travel" })), "forbidden", "scope");
      await expectRefusal(await real.post(tool, json({ ...fine, scope: "*" })), "invalid_input", "scope");
      await expectRefusal(
        await real.post(tool, json({ ...fine, scope: "*" }), { token: "admin" }),
        "invalid_input",
        "scope",
      );
    },
  );

  it.each(["memory_store_episode", "memory_context"])(
    "%s takes no other butler than the connection's",
    async (tool) => {
      const { good: fine = {} } = CASES[tool] ?? {};
      for (const token of ["plain", "admin"] as const)
        await expectRefusal(
          await real.post(tool, json({ ...fine, butler: "travel" }), { token }),
          "forbidden",
          "butler",
        );
    },
  );
});

describe("what no single field shows", () => {
  it("refuses a fact that ends before it begins", async () => {
    const fact = {
      subject: "user",
      predicate: "lives in",
      content: "Oslo",
      valid_from: "2026-02-01",
      valid_to: "2026-01-01",
    };
    const reply = await real.post("memory_store_fact", json(fact));
    await expectRefusal(reply, "invalid_input", "valid_to");
    expect(reply.body.error.message).toBe("valid_to: is before valid_from.");
  });

  it("refuses a source that is not there", async () => {
    const reply = await real.post("memory_store_rule", json({ content: "Warm the cup.", source_episode_id: ID }));
    expect(reply.body.error.code).toMatch(/^(not_found|invalid_input)$/);
    expectSentence(reply.body.error.message);
    expect(await rowCounts(real.rig.db)).toEqual(before);
  });

  it("checks what comes in headers like an argument", async () => {
    const episode = json({ content: "With a header." });
    const key = await real.post("memory_store_episode", episode, {
      headers: { "Idempotency-Key": "k".repeat(10_240) },
    });
    await expectRefusal(key, "invalid_input", "idempotency_key");
    const session = await real.post("memory_store_episode", episode, {
      headers: { "X-Butler-Session": "s".repeat(201) },
    });
    await expectRefusal(session, "invalid_input", "session");
  });

  it("refuses bodies that are no JSON, no UTF-8 or too large", async () => {
    for (const body of ["{", "{'a':1}", '{"content":"a\nb"}', "NaN"])
      await expectRefusal(await real.post("memory_store_episode", body), "invalid_input", "body");
    const large = await real.post("memory_store_episode", json({ content: "x".repeat(9 * 1024 * 1024) }));
    expect(large).toMatchObject({ status: 413, body: { error: { code: "invalid_input", field: "body" } } });
    expectSentence(large.body.error.message);
    const form = await real.post("memory_store_episode", "content=x", {
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    expect(form).toMatchObject({ status: 415, body: { error: { code: "invalid_input", field: "Content-Type" } } });
    expect(await rowCounts(real.rig.db)).toEqual(before);
  });

  it("answers broken lines on stdio and goes on", async () => {
    const lines = real.overLines({ maxLineBytes: 20_000 });
    const call = (id: number, args: string) =>
      lines.send(
        `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"memory_store_episode","arguments":${args}}}`,
      );
    lines.send(
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}',
    );
    expect((await lines.next()).result.serverInfo.name).toBe("butler-memory");
    lines.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    for (const line of ["{broken", "[]", '"text"', "null", '{"id":7}', "x".repeat(30_000)]) {
      lines.send(line);
      const { error } = await lines.next();
      expect(error.code).toBeLessThan(0);
      expectSentence(error.message);
    }
    // MCP itself wants an object here, so this is refused as a message and not by the tool.
    for (const args of ["null", "[]", '"text"', "42"]) {
      call(2, args);
      expect((await lines.next()).error.code).toBe(-32602);
    }
    for (const args of [
      '{"content":"\\ud800"}',
      '{"content":"a","colour":1}',
      `{"content":"a","metadata":${nested(1500).raw}}`,
    ]) {
      call(2, args);
      const { result } = await lines.next();
      expect(result.structuredContent.error.code).toBe("invalid_input");
      expectSentence(result.structuredContent.error.message);
    }
    expect(await rowCounts(real.rig.db)).toEqual(before);
    call(3, '{"content":"A good line."}');
    expect((await lines.next()).result.structuredContent).toMatchObject({ id: expect.stringMatching(/^\w{8}$/) });
    await lines.close();
    before = await rowCounts(real.rig.db);
  });
});

describe("batches", () => {
  it("refuses bad rows by their place and keeps the good ones", async () => {
    const bad: [unknown, string, string][] = [
      [{ content: " " }, "invalid_input", "content"],
      [{ content: "x", importance: 11 }, "invalid_input", "importance"],
      [{ content: "x", colour: 1 }, "invalid_input", "colour"],
      [{ content: "x", butler: "travel" }, "forbidden", "butler"],
      [{ content: "x", metadata: { a: "\0" } }, "invalid_input", "metadata"],
      [{ content: "x", occurred_at: "2026-02-30" }, "invalid_input", "occurred_at"],
    ];
    const rows = [
      { content: "First good row." },
      ...bad.map(([row]) => row),
      null,
      "text",
      { content: "Last good row." },
    ];
    const { status, body } = await real.post("memory_ingest_batch", json({ episodes: rows }));
    expect(status).toBe(200);
    expect(body.results.map((r: { ok: boolean }) => r.ok)).toEqual([true, ...bad.map(() => false), false, false, true]);
    bad.forEach(([, code, field], index) => {
      const { error } = body.results[index + 1];
      expect(error).toMatchObject({ code, field: `episodes.${index + 1}.${field}` });
      expectSentence(error.message);
    });
    expect(body.results[bad.length + 1].error.message).toBe(`episodes.${bad.length + 1}: must be an object, not null.`);
    const after = await rowCounts(real.rig.db);
    expect(Number(after.episodes) - Number(before.episodes)).toBe(2);
    before = after;
  });

  it("stores nothing when every row is bad", async () => {
    const { status, body } = await real.post("memory_ingest_batch", json({ episodes: [{}, { content: "" }] }));
    expect(status).toBe(200);
    expect(body.results.map((r: { error: { field: string } }) => r.error.field)).toEqual([
      "episodes.0.content",
      "episodes.1.content",
    ]);
    expect(await rowCounts(real.rig.db)).toEqual(before);
  });

  it("gives a refused row the same answer when the call is repeated", async () => {
    await real.post("memory_store_episode", json({ content: "Keyed.", idempotency_key: "row-1" }));
    const body = json({ episodes: [{ content: "Fine." }, { content: "Another text.", idempotency_key: "row-1" }] });
    const first = await real.post("memory_ingest_batch", body, { headers: { "Idempotency-Key": "call-1" } });
    expect(first.body.results[1]).toMatchObject({ ok: false, error: { code: "conflict" } });
    const again = await real.post("memory_ingest_batch", body, { headers: { "Idempotency-Key": "call-1" } });
    expect(again.body).toEqual(first.body);
    before = await rowCounts(real.rig.db);
  });

  it("answers each context request on its own", async () => {
    const requests = [
      { trigger_prompt: "tea" },
      { trigger_prompt: "" },
      { trigger_prompt: "x", token_budget: 0 },
      { trigger_prompt: "x", butler: "travel" },
      5,
    ];
    const { status, body } = await real.post("memory_context_batch", json({ requests }));
    expect(status).toBe(200);
    const fields = body.responses.map((r: { ok: boolean; error?: { field?: string } }) =>
      r.ok ? "ok" : r.error?.field,
    );
    expect(fields).toEqual([
      "ok",
      "requests.1.trigger_prompt",
      "requests.2.token_budget",
      "requests.3.butler",
      "requests.4",
    ]);
    await real.rig.settled();
  });
});

describe("names that JavaScript treats specially", () => {
  it("keeps them as data and lets none reach a prototype", async () => {
    const keys =
      '{"constructor":"c","toString":1,"hasOwnProperty":null,"nested":{"__proto__":{"admin":true},"prototype":[]}}';
    const { status, body } = await real.post("memory_store_episode", `{"content":"Special keys.","metadata":${keys}}`);
    expect(status).toBe(200);
    const { body: got } = await real.post("memory_get", json({ id: body.id }));
    expect(got.memory.metadata).toEqual(JSON.parse(keys));
    expect(Object.hasOwn(got.memory.metadata.nested, "__proto__")).toBe(true);
    expect(Object.hasOwn(Object.prototype, "admin")).toBe(false);
  });
});

it("still works after all of it", async () => {
  await good();
});
