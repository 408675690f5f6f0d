/** Signing in on the pages: codes, cookies, roles, other origins, and the files that need no sign-in. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { Principal } from "../../../src/doors/backend.ts";
import { pageSessions } from "../../../src/doors/http/access/page-sessions.ts";
import { loopbackHosts } from "../../../src/doors/http/guards.ts";
import { type HttpOptions, httpApp } from "../../../src/doors/http/http.ts";
import { silentLog } from "../../../src/engine/adapters/log.ts";
import { anyone, fakeHost, fakeTools } from "../../support/fake-host.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function rig(options: Partial<HttpOptions> = {}) {
  let now = 0;
  const sessions = pageSessions(() => now);
  const tokens = new Map<string, Principal>([
    ["root", anyone],
    ["travel", { name: "t", tenant: "home", butler: "travel", admin: false, voice: "agent" }],
  ]);
  const common = {
    backend: fakeHost(),
    tools: fakeTools,
    authenticate: async (token: string) => tokens.get(token),
    allowedHosts: loopbackHosts(4270),
    log: silentLog,
    version: "1.2.3",
    sessions,
    ...options,
  };
  const port = httpApp(common);
  const socket = httpApp({ ...common, local: { ...anyone, name: "local" } });
  const host = "127.0.0.1:4270";
  const ask = (path: string, init: RequestInit = {}) =>
    port.request(path, { ...init, headers: { host, ...(init.headers as Record<string, string>) } });
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    ask(path, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json", ...headers },
    });
  const code = async (body: object = {}): Promise<string> => {
    const headers = { "content-type": "application/json" };
    const answer = await socket.request("/api/session/code", { method: "POST", body: JSON.stringify(body), headers });
    return ((await answer.json()) as { code: string }).code;
  };
  const cookieOf = (response: Response) => (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  const signIn = async (body: object) => cookieOf(await post("/api/session", body));
  return { ask, post, code, signIn, cookieOf, tokens, later: (ms: number) => (now += ms) };
}

const SESSION = "/api/session";
// biome-ignore lint/suspicious/noExplicitAny: answers are checked by the assertions, field by field.
const json = (response: Response): Promise<any> => response.json();

describe("signing in", () => {
  it("with a code gives a cookie that scripts and other sites cannot use, and says who one is", async () => {
    const { post, code, ask, cookieOf } = rig();
    const answer = await post(SESSION, { code: await code() });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ name: "page", role: "admin", butlers: [{ name: "general" }, {}, {}] });
    const header = answer.headers.get("set-cookie") ?? "";
    for (const part of ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"]) expect(header).toContain(part);
    const cookie = cookieOf(answer);
    expect((await json(await ask(SESSION, { headers: { cookie } }))).role).toBe("admin");
    expect((await ask("/api/butlers", { headers: { cookie } })).status).toBe(200);
    expect((await ask("/api/openapi.json", { headers: { cookie } })).status).toBe(200);
  });

  it("works once, and within a minute", async () => {
    const { post, code, later } = rig();
    const given = await code();
    expect((await post(SESSION, { code: given })).status).toBe(200);
    expect((await post(SESSION, { code: given })).status).toBe(401);
    const old = await code();
    later(60_000);
    expect((await post(SESSION, { code: old })).status).toBe(401);
    for (const wrong of ["", "x", "x".repeat(300)]) expect((await post(SESSION, { code: wrong })).ok).toBe(false);
    expect((await post(SESSION, {})).status).toBe(400);
    expect((await post(SESSION, { code: "a", token: "b" })).status).toBe(400);
  });

  it("ends after twelve hours, and by signing out", async () => {
    const { signIn, code, ask, later } = rig();
    const cookie = await signIn({ code: await code() });
    later(12 * 3_600_000 - 1);
    expect((await ask(SESSION, { headers: { cookie } })).status).toBe(200);
    later(1);
    expect((await ask(SESSION, { headers: { cookie } })).status).toBe(401);
    const second = await signIn({ code: await code() });
    const out = await ask(SESSION, { method: "DELETE", headers: { cookie: second } });
    expect([out.status, out.headers.get("set-cookie")]).toEqual([200, expect.stringContaining("Max-Age=0")]);
    expect((await ask(SESSION, { headers: { cookie: second } })).status).toBe(401);
  });

  it("with a token lasts as long as the token is valid, and gives no more rights than it", async () => {
    const { signIn, ask, post, tokens } = rig();
    const cookie = await signIn({ token: "travel" });
    expect(await (await ask(SESSION, { headers: { cookie } })).json()).toMatchObject({ name: "t", role: "reader" });
    const foreign = await post("/api/butlers/general/tools/memory_stats", {}, { cookie });
    expect(foreign.status).toBe(403);
    tokens.delete("travel");
    expect((await ask(SESSION, { headers: { cookie } })).status).toBe(401);
    expect((await post(SESSION, { token: "unknown" })).status).toBe(401);
  });

  it("a reader is told so", async () => {
    const { signIn, code, ask } = rig();
    const cookie = await signIn({ code: await code({ reader: true }) });
    expect((await json(await ask(SESSION, { headers: { cookie } }))).role).toBe("reader");
  });

  it("codes are given out on the local socket alone", async () => {
    const { post, signIn, code } = rig();
    expect((await post("/api/session/code", {})).status).toBe(401);
    const cookie = await signIn({ code: await code() });
    expect((await post("/api/session/code", {}, { cookie })).status).toBe(404);
    expect((await post("/api/session/code", {}, { authorization: "Bearer root" })).status).toBe(404);
  });
});

describe("a cookie", () => {
  it("is no use to another origin, another site or another port", async () => {
    const { signIn, code, ask, post } = rig();
    const cookie = await signIn({ code: await code() });
    for (const origin of ["http://evil.example", "http://127.0.0.1:3000", "null"]) {
      expect((await post("/api/butlers/general/tools/memory_stats", {}, { cookie, origin })).status).toBe(403);
      expect((await post(SESSION, { code: await code() }, { origin })).status).toBe(403);
      expect((await ask(SESSION, { method: "DELETE", headers: { cookie, origin } })).status).toBe(403);
    }
    for (const site of ["cross-site", "same-site"])
      expect((await ask(SESSION, { headers: { cookie, "sec-fetch-site": site } })).status).toBe(401);
    for (const site of ["same-origin", "none"])
      expect((await ask(SESSION, { headers: { cookie, "sec-fetch-site": site } })).status).toBe(200);
    expect((await ask(SESSION, { headers: { cookie, host: "evil.example" } })).status).toBe(403);
    const form = { cookie, "content-type": "application/x-www-form-urlencoded" };
    expect(
      (await ask("/api/butlers/general/tools/memory_stats", { method: "POST", headers: form, body: "{}" })).status,
    ).toBe(415);
  });

  it("is taken below /api only, and a wrong one is none", async () => {
    const { signIn, code, ask, post } = rig();
    const cookie = await signIn({ code: await code() });
    expect((await post("/butlers/general/mcp", {}, { cookie })).status).toBe(401);
    expect((await post("/hooks/claude-code/Stop?butler=general", {}, { cookie })).status).toBe(401);
    for (const wrong of ["butler_session=", "butler_session=x", `butler_session=${"x".repeat(5_000)}`, "other=1"])
      expect((await ask(SESSION, { headers: { cookie: wrong } })).status).toBe(401);
  });
});

describe("the files of the pages", () => {
  function built() {
    const folder = mkdtempSync(join(tmpdir(), "web-"));
    folders.push(folder);
    mkdirSync(join(folder, "assets"));
    writeFileSync(join(folder, "index.html"), "<!doctype html><title>Butler Memory</title>");
    writeFileSync(join(folder, "assets/app-1a2b.js"), "export {}");
    writeFileSync(join(folder, "assets/app-1a2b.js.br"), "packed");
    return folder;
  }

  it("need no sign-in, hold no names, and may run nothing inline", async () => {
    const { ask } = rig({ webFolder: built() });
    for (const path of [
      "/memory",
      "/memory/facts",
      "/butlers/general/memory",
      "/butlers/nobody/memory/facts/1",
      "/signin",
    ]) {
      const page = await ask(path);
      expect([page.status, await page.text()]).toEqual([200, "<!doctype html><title>Butler Memory</title>"]);
      const policy = page.headers.get("content-security-policy") ?? "";
      expect(policy).toContain("script-src 'self'");
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toContain("unsafe");
      expect(page.headers.get("cache-control")).toBe("no-cache");
      expect(page.headers.get("x-frame-options")).toBe("DENY");
    }
  });

  it("are packed for whom that is good, and kept for ever where their name has a hash", async () => {
    const { ask } = rig({ webFolder: built() });
    const file = "/memory/assets/app-1a2b.js";
    const plain = await ask(file);
    expect([await plain.text(), plain.headers.get("content-encoding")]).toEqual(["export {}", null]);
    expect(plain.headers.get("cache-control")).toContain("immutable");
    expect(plain.headers.get("content-type")).toContain("javascript");
    const packed = await ask(file, { headers: { "accept-encoding": "gzip, br" } });
    expect([await packed.text(), packed.headers.get("content-encoding")]).toEqual(["packed", "br"]);
    const refused = await ask(file, { headers: { "accept-encoding": "br;q=0" } });
    expect(refused.headers.get("content-encoding")).toBeNull();
  });

  it("are those of their folder and no others", async () => {
    const { ask } = rig({ webFolder: built() });
    for (const path of [
      "/memory/assets/other.js",
      "/memory/assets/..%2findex.html",
      "/memory/assets/%2e%2e/%2e%2e/etc/passwd",
    ])
      expect(await (await ask(path)).text()).not.toContain("root:");
    expect((await ask("/memory/assets/other.js")).status).toBe(404);
    expect((await ask("/memory/../../etc/passwd")).status).not.toBe(200);
    expect(await (await ask("/memory/..%2f..%2fetc%2fpasswd")).text()).toContain("<!doctype html>");
  });

  it("a package without them says so", async () => {
    const { ask } = rig();
    const answer = await ask("/memory");
    expect([answer.status, (await json(answer)).error.message]).toEqual([
      404,
      expect.stringContaining("npm run build"),
    ]);
  });
});
