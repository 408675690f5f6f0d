/** `BUTLER_ALLOWED_HOSTS`, from the variable to the answer: listed names are served with their pages, and everybody else is refused as before. */
import { connect } from "node:net";
import { type ServerType, serve } from "@hono/node-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readFailure } from "../../src/doors/failures.ts";
import { httpApp } from "../../src/doors/http/http.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";
import { readEnvironment } from "../../src/main/environment.ts";
import { hostNames } from "../../src/main/owner/host-names.ts";
import { anyone, fakeHost, fakeTools } from "../support/fake-host.ts";

const LISTED = "memory.example.org, Butler butler.apps.svc.cluster.local\n[FD00::7] 192.0.2.7";

let port = 4270;
const app = httpApp({
  backend: fakeHost(),
  tools: fakeTools,
  authenticate: async (token) => (token === "root" ? anyone : undefined),
  allowedHosts: () => hostNames(readEnvironment({ BUTLER_ALLOWED_HOSTS: LISTED }), port),
  log: silentLog,
  version: "1.2.3",
});

const ask = (path: string, headers: Record<string, string>, body?: unknown) =>
  app.request(path, {
    method: body === undefined ? "GET" : "POST",
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

describe("the Host header", () => {
  it.each([
    "memory.example.org",
    "MEMORY.Example.ORG:443",
    "memory.example.org:8443",
    "butler",
    "BUTLER:4270",
    "butler.apps.svc.cluster.local:4270",
    "[fd00::7]:4270",
    "192.0.2.7:80",
    "127.0.0.1:4270",
    "localhost:4270",
  ])("%j is served", async (host) => {
    for (const path of ["/healthz", "/readyz", "/"]) expect((await ask(path, { host })).status).toBe(200);
    expect((await ask("/api/butlers", { host, authorization: "Bearer root" })).status).toBe(200);
    expect((await ask("/api/butlers", { host })).status).toBe(401);
  });

  it.each([
    "",
    "*",
    "evil.example",
    "evil.example:80",
    "evil.memory.example.org",
    "memory.example.org.evil.example",
    "memory.example.org.",
    "memory.example.org.:4270",
    "memory.example.org:",
    "memory.example.org:80:80",
    "memory.example.org:x",
    "user@memory.example.org",
    "memory.example.org/evil",
    "memory.example.org, evil.example",
    "xmemory.example.org",
    "memory-example.org",
    "memory",
    "butler.apps",
    "fd00::7",
    "[fd00::7",
    "localhost:80",
    "localhost.",
    "0.0.0.0:4270",
  ])("%j is refused, with every path and also with a token", async (host) => {
    for (const path of ["/healthz", "/", "/memory", "/api/butlers", "/metrics", "/.well-known/anything"])
      expect((await ask(path, { host, authorization: "Bearer root" })).status).toBe(403);
  });

  it("a refusal says where the name is to be listed", async () => {
    const failure = readFailure(await (await ask("/", { host: "Evil.example:80" })).json());
    expect(failure).toMatchObject({ code: "forbidden", field: "Host" });
    expect(failure?.message).toContain('"evil.example:80"; name it in BUTLER_ALLOWED_HOSTS of the daemon');
  });
});

describe("a page under a listed name", () => {
  const signIn = (headers: Record<string, string>) => ask("/api/session", headers, { token: "root" });

  it.each([
    ["https://memory.example.org", "memory.example.org"],
    ["https://memory.example.org", "Memory.example.org"],
    ["https://memory.example.org:8443", "memory.example.org:8443"],
    // A proxy that writes the usual port too.
    ["https://memory.example.org", "memory.example.org:443"],
    ["http://memory.example.org", "memory.example.org:80"],
    ["http://butler:4270", "butler:4270"],
    ["http://[fd00::7]:4270", "[fd00::7]:4270"],
  ])("of %s, asked as %s, signs in, reads and calls tools", async (origin, host) => {
    const signedIn = await signIn({ host, origin, "sec-fetch-site": "same-origin" });
    expect(signedIn.status).toBe(200);
    const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const page = { host, origin, cookie, "sec-fetch-site": "same-origin" };
    expect((await ask("/api/butlers", page)).status).toBe(200);
    expect((await ask("/api/butlers/general/tools/memory_stats", page, {})).status).toBe(200);
    expect([...signedIn.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
  });

  it.each([
    ["https://evil.example", "memory.example.org"],
    ["https://memory.example.org.evil.example", "memory.example.org"],
    // Another listed name is another origin.
    ["http://butler:4270", "memory.example.org"],
    ["https://memory.example.org:8443", "memory.example.org"],
    ["https://memory.example.org", "memory.example.org:8443"],
    ["http://memory.example.org", "memory.example.org:443"],
    ["https://memory.example.org", "memory.example.org:80"],
    ["ftp://memory.example.org", "memory.example.org:80"],
    ["null", "memory.example.org"],
    ["", "memory.example.org"],
    ["memory.example.org", "memory.example.org"],
    ["*", "memory.example.org"],
  ])("of %j may not call %s", async (origin, host) => {
    expect((await signIn({ host, origin })).status).toBe(403);
    expect((await ask("/api/butlers", { host, origin, authorization: "Bearer root" })).status).toBe(403);
  });
});

describe("on a real connection", () => {
  let server: ServerType;
  beforeAll(async () => {
    port = await new Promise<number>((resolve) => {
      server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, (info) => resolve(info.port));
    });
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  /** The status of the answer to these bytes; undefined when the connection was closed without one. */
  const statusOf = (target: string, ...lines: string[]) =>
    new Promise<number | undefined>((done, failed) => {
      let text = "";
      const socket = connect(port, "127.0.0.1", () =>
        socket.end([`GET ${target} HTTP/1.1`, ...lines, "Connection: close", "", ""].join("\r\n")),
      );
      socket.setEncoding("latin1").on("data", (chunk) => {
        text += chunk;
      });
      socket.on("error", failed);
      socket.on("close", () => done(text === "" ? undefined : Number(text.split(" ")[1])));
    });

  it("one listed Host is served, in any case", async () => {
    expect(await statusOf("/healthz", "Host: memory.example.org")).toBe(200);
    expect(await statusOf("/healthz", "HOST:  MEMORY.example.org:80  ")).toBe(200);
  });

  it.each([
    ["none", []],
    ["an empty one", ["Host:"]],
    ["a foreign one", ["Host: evil.example"]],
    ["a listed one before a foreign one", ["Host: memory.example.org", "Host: evil.example"]],
    ["a foreign one before a listed one", ["Host: evil.example", "Host: memory.example.org"]],
    ["a listed one twice", ["Host: memory.example.org", "Host: memory.example.org"]],
    ["a listed one that another header names", ["Host: evil.example", "X-Forwarded-Host: memory.example.org"]],
    ["one with a blank in it", ["Host: memory.example.org evil.example"]],
  ])("%s is refused", async (_, lines) => {
    const status = (await statusOf("/healthz", ...lines)) ?? 0;
    expect([400, 403]).toContain(status);
  });

  it("an address in the place of the path does not stand for the header", async () => {
    const status = (await statusOf("http://memory.example.org/healthz", "Host: evil.example")) ?? 0;
    expect([400, 403]).toContain(status);
  });
});
