/** The client of the owner's socket against servers that answer in every way, and the loop that repeats a question. */
import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttp, type RequestListener } from "node:http";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { requestOwner } from "../../src/daemon/line/request.ts";
import { retry } from "../../src/daemon/line/retry.ts";

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function listening(server: Server): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "bs-"));
  const socket = join(folder, "s");
  ends.push(() => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  await new Promise<void>((done) => server.listen(socket, done));
  return socket;
}

const http = (listener: RequestListener) => listening(createHttp(listener));
/** Says these bytes to whoever asks, and hangs up. */
const saying = (text: string) => listening(createServer((one) => one.once("data", () => one.end(text))));
const ask = (socket: string, more: Partial<Parameters<typeof requestOwner>[0]> = {}) =>
  requestOwner({ socket, method: "POST", path: "/x?y=1", body: { text: "Grüße 🚢" }, timeoutMs: 5_000, ...more });

describe("a question to the owner", () => {
  test("arrives whole, and so does its answer, with or without a length", async () => {
    const big = "ä".repeat(300_000);
    const socket = await http(async (incoming, outgoing) => {
      let body = "";
      for await (const chunk of incoming.setEncoding("utf8")) body += chunk;
      const { method, url, headers } = incoming;
      const json = JSON.stringify({ method, url, body: JSON.parse(body), project: headers["x-butler-project"], big });
      if (url !== "/whole") outgoing.write(json.slice(0, 200_000));
      outgoing.end(url === "/whole" ? json : json.slice(200_000));
    });
    const told = { method: "POST", body: { text: "Grüße 🚢" }, big };
    expect(await ask(socket, { path: "/whole" })).toEqual({ status: 200, json: { ...told, url: "/whole" } });
    expect(await ask(socket, { headers: { "x-butler-project": "ü" } })).toEqual({
      status: 200,
      json: { ...told, url: "/x?y=1", project: "ü" },
    });
  });

  test("may have an answer without a body", async () => {
    const socket = await http((_, outgoing) => outgoing.writeHead(204).end());
    expect(await ask(socket)).toEqual({ status: 204, json: undefined });
  });

  const HEAD = "HTTP/1.1 200 OK\r\n";
  test.each([
    ["that hangs up", "", "unreachable"],
    ["that dies in its head", HEAD, "unreachable"],
    ["that dies in its body", `${HEAD}content-length: 9\r\n\r\n{"a":`, "unreachable"],
    ["that dies in a body of unknown length", `${HEAD}\r\n{"a":`, "unreachable"],
    ["that speaks something else", "220 mail ready\r\n\r\n", "unreachable"],
    ["that is stopping", "HTTP/1.1 503 No\r\n\r\n", "stopping"],
  ])("fails with a code at an owner %s", async (_, text, code) => {
    await expect(ask(await saying(text))).rejects.toMatchObject({ name: "OwnerError", code });
  });

  test("fails with a code where nobody listens, and where nobody answers in time", async () => {
    await expect(ask(join(tmpdir(), "bs-nobody", "s"))).rejects.toMatchObject({ code: "unreachable" });
    const silent = await listening(createServer(() => undefined));
    await expect(ask(silent, { timeoutMs: 20 })).rejects.toMatchObject({ code: "timeout" });
  });

  test("carries no header that would begin another", async () => {
    const socket = await saying("");
    for (const value of ["a\r\nx: y", "a\nb", "\u{1f6a2}"])
      await expect(ask(socket, { headers: { "x-butler-project": value } })).rejects.toThrow(/Invalid character/);
  });
});

describe("a loop of attempts", () => {
  const giveUp = () => new Error("gave up");

  test("ends with the first result, and with whatever is thrown", async () => {
    const until = performance.now() + 600_000;
    let left = 3;
    expect(await retry({ until, firstMs: 0, giveUp }, async () => (--left === 0 ? "there" : undefined))).toBe("there");
    const failing = retry({ until, giveUp }, () => Promise.reject(new Error("no")));
    await expect(failing).rejects.toThrow("no");
  });

  test("gives up when its time is over and not before; without time there is one attempt", async () => {
    const until = performance.now() + 60;
    await expect(retry({ until, giveUp }, async () => undefined)).rejects.toThrow("gave up");
    expect(performance.now()).toBeGreaterThanOrEqual(until);
    let attempts = 0;
    const once = retry({ until: 0, giveUp }, async () => void attempts++);
    await expect(once).rejects.toThrow("gave up");
    expect(attempts).toBe(1);
  });
});
