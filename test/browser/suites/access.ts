/** Who gets in: seen from a real browser, at a real daemon. */
import { createServer, type Server } from "node:http";
import { afterAll, expect, it } from "vitest";
import type { Suite } from "../../support/browser/house.ts";
import { PATIENCE } from "../../support/browser/person.ts";

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

/** A page of another server on this machine. */
function elsewhere(html: string): Promise<string> {
  return new Promise((done) => {
    const server = createServer((_, response) => {
      response.setHeader("content-type", "text/html; charset=utf-8");
      response.end(html);
    }).listen(0, "127.0.0.1", () => done(`http://127.0.0.1:${(server.address() as { port: number }).port}`));
    servers.push(server);
  });
}

const MEMORY = "/api/butlers/health/memory";

export const access: Suite = (house) => {
  it("somebody who is not signed in sees how to sign in, and no name of anything", async () => {
    const { page, ...stranger } = await house().person({ as: "nobody" });
    stranger.expectTrouble(/401/);
    for (const path of ["/memory", "/memory/search?q=tea", "/butlers/health/memory", "/butlers/health/memory/facts"]) {
      await page.goto(path);
      await page.getByText("butler open").first().waitFor();
      const shown = await page.content();
      for (const name of ["general", "travel"]) expect(shown).not.toContain(name);
      // The address that was asked for is kept, and nothing else.
      expect(new URL(page.url()).pathname).toBe("/signin");
    }
    for (const path of ["/api/session", "/api/butlers", `${MEMORY}/stats`, "/api/memory/today", "/api/openapi.json"])
      await stranger.api("GET", path, undefined, 401);
    await stranger.api("POST", `${MEMORY}/examples`, {}, 401);
    expect(stranger.troubles()).toEqual([]);
  });

  it("a code signs in once, and does not stay in the address or the history", async () => {
    const door = await house().door();
    const code = new URL(door).hash.slice(1);
    const { page, ...first } = await house().person({ as: "nobody" });
    const asked: string[] = [];
    first.context.on("request", (request) => void asked.push(request.url()));
    await page.goto(door);
    await page.waitForURL(/\/memory$/);
    await page.getByRole("navigation", { name: "Butlers and pages" }).getByText("travel").waitFor();
    expect(asked.filter((url) => url.includes(code))).toEqual([]);
    const { page: other, ...second } = await house().person({ as: "nobody" });
    second.expectTrouble(/401/);
    await other.goto(door);
    await other.getByRole("alert").waitFor();
    expect(await other.getByRole("alert").textContent()).toContain("butler open");
    expect(await other.content()).not.toContain("travel");
    expect(other.url()).not.toContain(code);
    expect([first.troubles(), second.troubles()]).toEqual([[], []]);
  });

  it("after signing in one is where one wanted to be, and never on another site", async () => {
    const { page, ...person } = await house().person({ as: "nobody" });
    person.expectTrouble(/401/);
    await page.goto("/butlers/health/memory");
    await page.waitForURL(/\/signin\?to=/);
    const door = new URL(await house().door());
    const back = `${page.url()}${door.hash}`;
    await page.goto("about:blank");
    await page.goto(back);
    await page.waitForURL(/\/butlers\/health\/memory$/);
    for (const to of ["//evil.example/", "https://evil.example/memory", "javascript:alert(1)", "/api/butlers"]) {
      const next = new URL(await house().door());
      await page.goto("about:blank");
      await page.goto(`/signin?to=${encodeURIComponent(to)}${next.hash}`);
      await page.waitForURL(/\/memory$/);
      expect(new URL(page.url()).origin).toBe(house().address);
    }
    expect(person.troubles()).toEqual([]);
  });

  it("the cookie is out of reach of scripts and of other sites", async () => {
    const { page, ...person } = await house().person({ own: true });
    const [cookie, ...others] = await person.context.cookies();
    expect(others).toEqual([]);
    expect(cookie).toMatchObject({ name: "butler_session", httpOnly: true, sameSite: "Strict", path: "/" });
    expect(await page.evaluate(() => document.cookie)).toBe("");
    expect(await page.evaluate(() => JSON.stringify(localStorage) + JSON.stringify(sessionStorage))).not.toContain(
      cookie?.value,
    );
    await person.api("DELETE", "/api/session");
    person.expectTrouble(/401/);
    await page.reload();
    await page.waitForURL(/\/signin/);
    expect(person.troubles()).toEqual([]);
  });

  it("a reader looks, and is refused every change by the daemon itself", async () => {
    const admin = await house().person();
    const fact = { subject: "tea", predicate: "kind", content: "green tea" };
    const { id } = await admin.api("POST", "/api/butlers/health/tools/memory_store_fact", fact);
    const reader = await house().person({ as: "reader" });
    expect(await reader.api("GET", "/api/session")).toMatchObject({ role: "reader" });
    expect((await reader.api("GET", `${MEMORY}/facts?subject=tea`)).facts).toMatchObject([{ id }]);
    const attempts: readonly [string, object][] = [
      ...["confirm", "forget", "restore", "helpful", "harmful"].map(
        (verb) => [`memories/${id}/${verb}`, {}] as [string, object],
      ),
      [`memories/${id}/correct`, { content: "black tea" }],
      ["dead-letters/redrive", {}],
      ["jobs/consolidate/run", {}],
      ["examples", {}],
    ];
    for (const [path, body] of attempts) await reader.api("POST", `${MEMORY}/${path}`, body, 403);
    await reader.api("DELETE", `${MEMORY}/examples`, undefined, 403);
    await reader.api("POST", "/api/butlers/health/tools/memory_store_fact", { ...fact, content: "x" }, 403);
    expect((await admin.api("GET", `${MEMORY}/facts?subject=tea`)).facts).toMatchObject([{ id, content: "green tea" }]);
    expect([admin.troubles(), reader.troubles()]).toEqual([[], []]);
  });

  it("a page of another origin reads nothing and changes nothing, though the browser is signed in", async () => {
    const { page, ...person } = await house().person();
    const { address } = house();
    const before = await person.api("GET", `${MEMORY}/stats`);
    const evil = await elsewhere(`<!doctype html><title>elsewhere</title>
        <form id="f" method="post" enctype="text/plain" action="${address}${MEMORY}/jobs/consolidate/run"><input name='{"a":"' value='"}'></form>
        <form id="g" method="post" action="${address}${MEMORY}/examples"></form>
        <iframe name="into"></iframe>`);
    person.expectTrouble(/./);
    await page.goto(evil);
    const read = await page.evaluate(
      async ({ address, path }) => {
        const tries: Record<string, string> = {};
        const attempt = async (name: string, url: string, init: RequestInit) => {
          try {
            const answer = await fetch(url, { credentials: "include", ...init });
            tries[name] = `${answer.type} ${answer.status} ${await answer.text()}`;
          } catch {
            tries[name] = "blocked";
          }
        };
        await attempt("get", `${address}${path}/stats`, {});
        await attempt("blind", `${address}${path}/stats`, { mode: "no-cors" });
        await attempt("session", `${address}/api/session`, {});
        const body = "{}";
        await attempt("json", `${address}${path}/examples`, {
          method: "POST",
          body,
          headers: { "content-type": "application/json" },
        });
        await attempt("plain", `${address}${path}/examples`, { method: "POST", body, mode: "no-cors" });
        await attempt("delete", `${address}/api/session`, { method: "DELETE" });
        return tries;
      },
      { address, path: MEMORY },
    );
    for (const [name, said] of Object.entries(read))
      expect([name, said]).toEqual([name, expect.stringMatching(/^(blocked|opaque 0 )$/)]);
    for (const form of ["f", "g"]) {
      await page.goto(evil);
      const answered = page.waitForResponse((response) => response.url().startsWith(address));
      await page.evaluate((id) => (document.getElementById(id) as HTMLFormElement).submit(), form);
      expect((await answered).status()).toBeGreaterThanOrEqual(400);
      await page.waitForURL((url) => url.origin === address);
    }
    // Nor may a frame show it.
    await page.goto(evil);
    await page.evaluate((to) => window.frames[0]?.location.replace(to), `${address}/memory`);
    await expect.poll(() => page.frames().at(-1)?.url(), PATIENCE).toMatch(/^chrome-error:/);
    expect(await person.api("GET", "/api/session")).toMatchObject({ role: "admin" });
    const { events, episodes, facts } = await person.api("GET", `${MEMORY}/stats`);
    expect({ events, episodes: episodes.total, facts: facts.total }).toEqual({
      events: before.events,
      episodes: before.episodes.total,
      facts: before.facts.total,
    });
  });

  it("the policy of the pages lets no script in that is not theirs", async () => {
    const { page, ...person } = await house().person();
    const response = await page.goto("/memory");
    const headers = response?.headers() ?? {};
    const policy = headers["content-security-policy"] ?? "";
    for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"])
      expect(policy).toContain(part);
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" });
    person.expectTrouble(/policy: script-src|Content Security Policy/);
    const ran = await page.evaluate(async () => {
      const refused = new Promise<void>((done) => {
        let times = 0;
        document.addEventListener("securitypolicyviolation", () => {
          times += 1;
          if (times === 2) done();
        });
      });
      const script = document.createElement("script");
      script.textContent = "window.intruded = true";
      document.body.append(script);
      const image = document.createElement("div");
      image.innerHTML = '<img src="data:," onerror="window.intruded = true">';
      await refused;
      return "intruded" in window;
    });
    expect(ran).toBe(false);
    expect(person.troubles()).toEqual([]);
  });
};
