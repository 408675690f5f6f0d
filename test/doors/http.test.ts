import { request as nodeRequest } from "node:http";
import { type ServerType, serve } from "@hono/node-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Backend, Principal } from "../../src/doors/backend.ts";
import { exitCode, httpStatus, readFailure, toFailure } from "../../src/doors/failures.ts";
import { loopbackHosts } from "../../src/doors/http/guards.ts";
import { type HttpOptions, httpApp } from "../../src/doors/http/http.ts";
import { type Log, silentLog } from "../../src/engine/adapters/log.ts";
import { ERROR_CODES, MemoryError } from "../../src/engine/domain/errors.ts";
import { projectOf } from "../../src/hosts/projects/project.ts";
import { anyone, fakeHost, fakeTools } from "../support/fake-host.ts";

const traveller: Principal = { name: "t", tenant: "home", butler: "travel", admin: false, voice: "agent" };
const tokens = new Map([
  ["root", anyone],
  ["travel", traveller],
]);

function rig(options: Partial<HttpOptions> = {}, overrides: Partial<Backend> = {}) {
  const host = fakeHost(overrides);
  const app = httpApp({
    backend: host,
    tools: fakeTools,
    authenticate: async (token) => tokens.get(token),
    allowedHosts: loopbackHosts(4270),
    log: silentLog,
    version: "1.2.3",
    ...options,
  });
  const ask = async (path: string, init: RequestInit = {}, token: string | undefined = "root") => {
    const headers = new Headers(init.headers);
    if (!headers.has("host")) headers.set("host", "127.0.0.1:4270");
    if (token !== "" && !headers.has("authorization")) headers.set("authorization", `Bearer ${token}`);
    return app.request(path, { ...init, headers });
  };
  const call = (tool: string, body: unknown, init: RequestInit = {}, butler = "general", token = "root") => {
    const headers = new Headers(init.headers);
    if (!headers.has("content-type")) headers.set("content-type", "application/json");
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return ask(`/api/butlers/${butler}/tools/${tool}`, { method: "POST", body: text, ...init, headers }, token);
  };
  return { host, app, ask, call };
}

async function failureOf(response: Response) {
  const body = await response.json();
  return { status: response.status, ...readFailure(body) };
}

describe("tools over HTTP", () => {
  it("answers with the tool's answer and nothing around it", async () => {
    const { call, host } = rig();
    const response = await call("memory_search", { query: "tea", request_context: { request_id: "r-1" } });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ mode: "hybrid", request_id: "r-1" });
    expect(host.seen[0]).toMatchObject({ principal: anyone, butler: "general" });
  });

  it("passes the headers of a call on, and an empty body as no arguments", async () => {
    const { call, host } = rig();
    await call("memory_stats", "", { headers: { "Idempotency-Key": "k1", "X-Butler-Session": "s1" } });
    const sent = { idempotencyKey: "k1", session: "s1", door: "http" };
    expect(host.seen[0]?.request).toEqual({ tool: "memory_stats", input: {}, ...sent });
  });

  it.each(["github.com/acme/app", "Küche", "my app", "東京 / main"])(
    "tells the project %s by its header",
    async (name) => {
      const { call, host } = rig();
      await call("memory_stats", {}, { headers: { "X-Butler-Project": Buffer.from(name).toString("latin1") } });
      // The one that a hook and a command find by that name.
      const sent = { project: projectOf("/", name).key, door: "http" };
      expect(host.seen[0]?.request).toEqual({ tool: "memory_stats", input: {}, ...sent });
    },
  );

  it.each([
    ["memory_forget", { id: "missing" }, 404, "not_found"],
    ["memory_forget", { id: "locked" }, 409, "conflict"],
    ["memory_forget", { id: "broken" }, 422, "integrity"],
    ["memory_forget", { id: "down" }, 503, "unavailable"],
    ["memory_search", { query: "x", colour: "red" }, 400, "invalid_input"],
    ["memory_search", [], 400, "invalid_input"],
    ["memory_search", null, 400, "invalid_input"],
    ["memory_sing", {}, 404, "not_found"],
  ])("%s %j → %i %s", async (tool, input, status, code) => {
    expect(await failureOf(await rig().call(tool, input))).toMatchObject({ status, code });
  });

  it("keeps details of an unexpected error for the log", async () => {
    const logged: object[] = [];
    const log: Log = { ...silentLog, error: (fields) => logged.push(fields) };
    const cause = new Error("password=hunter2 at /secret/path");
    const { call } = rig({ log }, { invoke: () => Promise.reject(cause) });
    const failure = await failureOf(await call("memory_stats", {}));
    expect(failure).toMatchObject({ status: 500, code: "internal" });
    expect(JSON.stringify(failure)).not.toContain("hunter2");
    expect(logged).toEqual([{ err: cause }]);
  });
});

describe("hooks", () => {
  const told: unknown[] = [];
  const hooked = (hook: NonNullable<Backend["hook"]>) => rig({}, { hook });
  const post = { method: "POST", headers: { "content-type": "application/json" }, body: '{"session_id":"s"}' };

  it("go to the butler they name, with the agent's own words, and its answer comes back as it is", async () => {
    const { ask } = hooked(async (principal, what) => {
      told.push(principal, what);
      return { ok: true, answer: { systemMessage: "hello" } };
    });
    const headers = { ...post.headers, "X-Butler-Project": "acme/app" };
    const response = await ask("/hooks/claude-code/SessionStart?butler=general", { ...post, headers });
    expect([response.status, await response.json()]).toEqual([200, { systemMessage: "hello" }]);
    const what = { agent: "claude-code", event: "SessionStart", butler: "general", project: "acme/app" };
    expect(told).toEqual([anyone, { ...what, input: { session_id: "s" }, given: undefined, gone: undefined }]);
  });

  it("say nothing when there is nothing to say, and why when something is wrong", async () => {
    const silent = hooked(async () => ({ ok: true }));
    const quiet = await silent.ask("/hooks/claude-code/Stop?butler=general", post);
    expect([quiet.status, await quiet.text()]).toEqual([204, ""]);
    const which = await failureOf(await silent.ask("/hooks/claude-code/Stop", post));
    expect(which).toMatchObject({ status: 400, field: "butler" });
    const foreign = await silent.ask("/hooks/claude-code/Stop?butler=general", post, "travel");
    expect(await failureOf(foreign)).toMatchObject({ status: 403, code: "forbidden" });
    expect((await silent.ask("/hooks/claude-code/Stop?butler=general", post, "")).status).toBe(401);
    expect((await silent.ask("/hooks/claude-code/Stop?butler=general")).status).toBe(405);
    const none = await rig().ask("/hooks/claude-code/Stop?butler=general", post);
    expect(await failureOf(none)).toMatchObject({ status: 404, code: "not_found" });
  });
});

describe("who may come in", () => {
  it("needs a token everywhere but at /healthz and /", async () => {
    const { ask } = rig();
    for (const path of ["/api/butlers", "/butlers/general/mcp", "/nowhere"]) {
      const response = await ask(path, {}, "");
      expect(response.headers.get("www-authenticate"), path).toBe('Bearer realm="butler-memory"');
      expect(await failureOf(response)).toMatchObject({ status: 401, code: "unauthorized" });
    }
    expect((await ask("/healthz", {}, "")).status).toBe(200);
    expect((await ask("/", {}, "")).status).toBe(200);
    const ready = await ask("/readyz", {}, "");
    expect([ready.status, Object.keys((await ready.json()) as object)]).toEqual([200, ["ok", "version"]]);
    expect((await ask("/readyz", {}, "wrong")).status).toBe(401);
  });

  it.each(["Bearer wrong", "Basic cm9vdA==", "Bearer", "root", "Bearer root extra"])("refuses %j", async (value) => {
    const response = await rig().ask("/api/butlers", { headers: { authorization: value } });
    expect(response.status).toBe(401);
    expect(await response.text()).not.toContain("wrong");
  });

  it.each([
    ["127.0.0.1:4270", 200],
    ["LOCALHOST:4270", 200],
    ["[::1]:4270", 200],
    ["127.0.0.1:9999", 403],
    ["evil.example:4270", 403],
    ["127.0.0.1.evil.example:4270", 403],
    ["memory.home", 200],
    ["memory.home:8443", 200],
    ["", 403],
  ])("Host %j → %i", async (host, status) => {
    const { ask } = rig({ allowedHosts: [...loopbackHosts(4270), "memory.home"] });
    for (const path of ["/api/butlers", "/healthz", "/"])
      expect((await ask(path, { headers: { host } })).status).toBe(status);
  });

  it.each([
    ["http://127.0.0.1:4270", 200],
    ["http://127.0.0.1:9999", 403],
    ["https://evil.example", 403],
    ["null", 403],
  ])("Origin %j → %i, and no CORS headers", async (origin, status) => {
    const response = await rig().ask("/api/butlers", { headers: { origin } });
    expect(response.status).toBe(status);
    expect([...response.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  });

  it.each([
    ["travel", 200, undefined],
    ["keeper", 200, undefined],
    ["general", 403, "forbidden"],
    ["nobody", 403, "forbidden"],
  ])("a token of travel at %s → %i", async (butler, status, code) => {
    const response = await rig().call("memory_stats", {}, {}, butler, "travel");
    expect(response.status).toBe(status);
    expect(readFailure(await response.json())?.code).toBe(code);
  });

  it("tells whoever may see all that a butler does not exist", async () => {
    const failure = await failureOf(await rig().call("memory_stats", {}, {}, "nobody"));
    expect(failure).toMatchObject({ status: 404, code: "not_found", field: "butler" });
  });

  it("lists the butlers a token may caller", async () => {
    const names = async (token: string) => {
      const body = (await (await rig().ask("/api/butlers", {}, token)).json()) as {
        butlers: { name: string; mcp: string }[];
      };
      return body.butlers.map((butler) => [butler.name, butler.mcp]);
    };
    expect(await names("root")).toHaveLength(3);
    expect(await names("travel")).toEqual([
      ["travel", "/butlers/travel/mcp"],
      ["keeper", "/butlers/keeper/mcp"],
    ]);
  });

  it("takes a caller's clock on the local socket only", async () => {
    const headers = { "X-Butler-Now": "2026-01-01T00:00:00Z" };
    const failure = await failureOf(await rig().call("memory_stats", {}, { headers }));
    expect(failure).toMatchObject({ status: 400, code: "invalid_input", field: "X-Butler-Now" });
    const socket = rig({ local: anyone });
    const response = await socket.call("memory_stats", {}, { headers: { ...headers, host: "any" } }, "general", "");
    expect(response.status).toBe(200);
    expect(socket.host.seen[0]?.request.now).toBe("2026-01-01T00:00:00Z");
  });
});

describe("what may come in", () => {
  it.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp"])(
    "refuses %s",
    async (type) => {
      const { call } = rig();
      const failure = await failureOf(await call("memory_stats", "{}", { headers: { "content-type": type } }));
      expect(failure).toMatchObject({ status: 415, code: "invalid_input", field: "Content-Type" });
    },
  );

  it.each(["application/json; charset=utf-8", "application/merge-patch+json"])("takes %s", async (type) => {
    expect((await rig().call("memory_stats", "{}", { headers: { "content-type": type } })).status).toBe(200);
  });

  it("refuses broken JSON and bytes that are no text", async () => {
    const { call, host } = rig();
    const broken = { status: 400, code: "invalid_input", field: "body" };
    expect(await failureOf(await call("memory_stats", '{"a":'))).toMatchObject(broken);
    const noise = await call("memory_stats", "", { body: new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]) });
    expect(await failureOf(noise)).toMatchObject(broken);
    expect(host.seen).toEqual([]);
  });

  it("refuses a body over the limit, announced or not", async () => {
    const { call, host } = rig({ maxBodyBytes: 1000 });
    const over = { status: 413, code: "invalid_input", field: "body" };
    const large = JSON.stringify({ query: "x".repeat(2000) });
    expect(
      await failureOf(await call("memory_search", large, { headers: { "content-length": "2013" } })),
    ).toMatchObject(over);
    const body = new Blob([large]).stream();
    expect(await failureOf(await call("memory_search", "", { body, duplex: "half" } as RequestInit))).toMatchObject(
      over,
    );
    expect(host.seen).toEqual([]);
  });

  it.each([
    ["GET", "/nowhere", 404, "not_found"],
    ["POST", "/api/butlers", 405, "invalid_input"],
    ["GET", "/api/butlers/general/tools/memory_stats", 405, "invalid_input"],
    ["PUT", "/butlers/general/mcp", 405, "invalid_input"],
  ])("%s %s → %i", async (method, path, status, code) => {
    const response = await rig().ask(path, { method, headers: { "content-type": "application/json" } });
    expect(response.headers.has("allow")).toBe(status === 405);
    expect(await failureOf(response)).toMatchObject({ status, code });
  });

  it("answers HEAD without a body and OPTIONS with the methods", async () => {
    const { ask } = rig();
    const head = await ask("/healthz", { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    const options = await ask("/api/butlers/general/tools/memory_stats", { method: "OPTIONS" });
    expect([options.status, options.headers.get("allow")]).toEqual([204, "POST"]);
  });
});

describe("health and the front page", () => {
  it("is ready only when every store answers", async () => {
    const sick = {
      ok: false,
      version: "1",
      model: "m",
      butlers: [{ name: "g", store: "failed" as const, reason: "disk" }],
    };
    const { ask } = rig({}, { health: async () => sick });
    expect((await ask("/healthz")).status).toBe(200);
    const ready = await ask("/readyz");
    expect([ready.status, await ready.json()]).toEqual([503, sick]);
    const stranger = await ask("/readyz", {}, "");
    expect([stranger.status, await stranger.json()]).toEqual([503, { ok: false, version: expect.any(String) }]);
    expect((await rig().ask("/readyz")).status).toBe(200);
  });

  it("shows a stranger neither the butlers nor where the token is", async () => {
    for (const token of ["", "bm_wrong"]) {
      const response = await rig({ tokenLocation: "/home/me/.butler/tokens" }).ask("/", {}, token);
      const page = await response.text();
      expect(response.status).toBe(200);
      for (const secret of ["keeper", "general", "Plans", "/home/me"]) expect(page).not.toContain(secret);
      expect(page).toContain("butler install claude-code");
    }
  });

  it("shows a token of one butler that one, also in what is ready", async () => {
    const { ask } = rig({ authenticate: async () => ({ ...anyone, butler: "general", admin: false }) });
    const page = await (await ask("/")).text();
    expect(page).toContain("/butlers/general/mcp");
    expect(page).not.toContain("Plans");
    const ready = (await (await ask("/readyz")).json()) as { butlers: { name: string }[] };
    expect(ready.butlers.map(({ name }) => name).filter((name) => name !== "general")).toEqual([]);
  });

  it("shows the butlers, escaped, with their addresses, under a strict policy", async () => {
    const response = await rig({ tokenLocation: "/home/me/.butler/tokens" }).ask("/");
    const page = await response.text();
    expect(response.headers.get("content-type")).toContain("text/html");
    expect(response.headers.get("content-security-policy")).toMatch(/default-src 'none'; style-src 'sha256-/);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("x-frame-options")).toBe("DENY");
    expect(page).toContain("http://127.0.0.1:4270/butlers/keeper/mcp");
    expect(page).toContain("Plans &lt;journeys&gt;.");
    expect(page).toContain("/home/me/.butler/tokens");
    expect(page).not.toContain("<script");
  });

  it("comes up when the butlers cannot be listed", async () => {
    const { ask } = rig({}, { butlers: () => Promise.reject(new Error("no roster")) });
    const page = await (await ask("/")).text();
    expect(page).toContain("cannot be listed right now");
    expect(page).not.toContain("no roster");
  });
});

describe("failures", () => {
  it("has a status and an exit code for every error code", () => {
    expect(ERROR_CODES.map((code) => [code, httpStatus(code), exitCode(code)])).toEqual([
      ["invalid_input", 400, 2],
      ["unauthorized", 401, 4],
      ["forbidden", 403, 4],
      ["not_found", 404, 3],
      ["conflict", 409, 4],
      ["integrity", 422, 4],
      ["unavailable", 503, 1],
      ["over_budget", 429, 1],
      ["internal", 500, 1],
    ]);
  });

  it("keeps our own errors and hides foreign ones", () => {
    const ours = new MemoryError("conflict", "It changed.", { field: "id", cause: new Error("row 7") });
    expect(toFailure(ours, silentLog)).toEqual({ code: "conflict", message: "It changed.", field: "id" });
    expect(toFailure("boom", silentLog)).toMatchObject({ code: "internal" });
  });
});

describe("over a real socket", () => {
  let server: ServerType;
  let port = 0;
  beforeAll(async () => {
    const { app } = rig({ maxBodyBytes: 1000, allowedHosts: () => loopbackHosts(port) });
    port = await new Promise<number>((resolve) => {
      server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, (info) => resolve(info.port));
    });
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  const post = (headers: Record<string, string>, body: string) =>
    new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const path = "/api/butlers/general/tools/memory_search";
      const all = { authorization: "Bearer root", "content-type": "application/json", ...headers };
      const outgoing = nodeRequest({ port, path, method: "POST", headers: all, agent: false }, async (incoming) => {
        let text = "";
        for await (const chunk of incoming) text += chunk;
        resolve({ status: incoming.statusCode, text });
      });
      outgoing.on("error", reject);
      outgoing.end(body);
    });

  it("answers, and refuses a foreign Host", async () => {
    expect((await post({}, '{"query":"tea"}')).status).toBe(200);
    expect((await post({ host: "evil.example" }, '{"query":"tea"}')).status).toBe(403);
  });

  it("says 413 to a large body and goes on serving", async () => {
    const large = JSON.stringify({ query: "x".repeat(200_000) });
    for (const headers of [{}, { "transfer-encoding": "chunked" }]) {
      const answer = await post(headers, large);
      expect(answer.status).toBe(413);
      expect(readFailure(JSON.parse(answer.text))).toMatchObject({ code: "invalid_input", field: "body" });
    }
    expect((await post({}, '{"query":"tea"}')).status).toBe(200);
  });
});
