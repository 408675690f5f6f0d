/** Attacks on a running daemon that are no calls: oversized requests, a code or token that is used by several at once, links in its home. Needs `npm run build`. */
import {
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { homeAt, prepareHome } from "../../src/daemon/home.ts";
import { butler, cleanUp, emptyHome, seededHome, up } from "../support/owner-processes.ts";
import { PatientClient } from "../support/patient-client.ts";

let home: string;
let address: string;
let token: string;
const tool = (name: string) => `/api/butlers/general/tools/${name}`;

beforeAll(async () => {
  home = await seededHome();
  ({ address } = await up(home));
  token = readFileSync(join(home, "token"), "utf8").trim();
});
afterAll(cleanUp);

/** The first line of the answer to these bytes; "" when the connection was closed without one. */
function raw(bytes: readonly (string | Buffer)[]): Promise<string> {
  const { hostname, port } = new URL(address);
  return new Promise((done) => {
    let heard = "";
    const line = connect(Number(port), hostname, () => {
      for (const part of bytes) line.write(part);
    });
    const end = () => {
      line.destroy();
      done(heard.split("\r\n", 1)[0] ?? "");
    };
    line.on("data", (chunk) => {
      heard += chunk.toString("latin1");
      if (heard.includes("\r\n\r\n")) end();
    });
    line.on("error", () => undefined);
    line.on("close", end);
  });
}

const host = () => `Host: ${new URL(address).host}\r\n`;
const bearer = () => `Authorization: Bearer ${token}\r\n`;
const POST = () => `POST ${tool("memory_stats")} HTTP/1.1\r\n${host()}${bearer()}Content-Type: application/json\r\n`;

test("requests that are too large or malformed are refused without being read, and the next one is answered", async () => {
  const megabyte = Buffer.alloc(1024 * 1024, 0x20);
  const chunk = Buffer.concat([Buffer.from("100000\r\n"), megabyte, Buffer.from("\r\n")]);
  const attacks: readonly (readonly [what: string, bytes: readonly (string | Buffer)[], answer: RegExp])[] = [
    ["a header of 64 KB", [`GET /healthz HTTP/1.1\r\n${host()}X-A: ${"a".repeat(65_536)}\r\n\r\n`], /431/],
    ["a token of 64 KB", [`GET /api/butlers HTTP/1.1\r\n${host()}Authorization: Bearer ${"b".repeat(65_536)}\r\n\r\n`], /431/],
    ["5,000 headers", [`GET /healthz HTTP/1.1\r\n${host()}${"X-A: a\r\n".repeat(5_000)}\r\n`], /431/],
    ["a path of 64 KB", [`GET /${"p".repeat(65_536)} HTTP/1.1\r\n${host()}\r\n`], /431|414/],
    ["a body said to be of a terabyte", [`${POST()}Content-Length: 1099511627776\r\n\r\n`], /413/],
    ["a body of 12 MB in chunks", [`${POST()}Transfer-Encoding: chunked\r\n\r\n`, ...Array.from({ length: 12 }, () => chunk)], /413/],
    ["two lengths", [`${POST()}Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}`], /400/],
    ["a length and chunks", [`${POST()}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`], /400/],
    ["a header with a line break in its name", [`GET /healthz HTTP/1.1\r\n${host()}X-A\n: b\r\n\r\n`], /400/],
    ["a compressed body", [`${POST()}Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08\x00`], /400/],
    ["no HTTP at all", ["\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"], /400/],
  ]; // biome-ignore format: one attack a line
  for (const [what, bytes, answer] of attacks) {
    expect(await raw(bytes), what).toMatch(answer);
    expect((await fetch(`${address}/healthz`)).status, `after ${what}`).toBe(200);
  }
  // Many at once that never end their headers hold up nobody else.
  const { hostname, port } = new URL(address);
  const slow = Array.from({ length: 200 }, () => {
    const line = connect(Number(port), hostname, () => line.write(`GET /healthz HTTP/1.1\r\n${host()}X-A:`));
    return line.on("error", () => undefined);
  });
  expect((await fetch(`${address}/healthz`)).status).toBe(200);
  for (const line of slow) line.destroy();
});

const post = async (path: string, bearerToken: string | undefined, body: object) => {
  const headers = {
    "content-type": "application/json",
    ...(bearerToken ? { authorization: `Bearer ${bearerToken}` } : {}),
  };
  const response = await fetch(`${address}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, cookie: (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "" };
};

test("a code of butler open that twenty redeem at once signs in one of them, and nobody ever after", async () => {
  const { stdout } = await butler(home, ["open", "--print"]);
  const code = stdout.trim().split("#")[1] ?? "";
  expect(code.length).toBeGreaterThan(30);
  const at = await Promise.all(Array.from({ length: 20 }, () => post("/api/session", undefined, { code })));
  expect(at.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 19 }, () => 401)]);
  expect(at.filter(({ cookie }) => cookie !== "")).toHaveLength(1);
  expect((await post("/api/session", undefined, { code })).status).toBe(401);
  const session = (cookie: string) => fetch(`${address}/api/session`, { headers: { cookie } });
  const [mine = ""] = at.flatMap(({ cookie }) => (cookie === "" ? [] : [cookie]));
  expect((await session(mine)).status).toBe(200);
  // A code of another kind is none, and a signed-out session stays out.
  for (const other of [code.slice(1), `${code}x`, "", "../token"])
    expect((await post("/api/session", undefined, { code: other })).status).toBeGreaterThanOrEqual(400);
  await fetch(`${address}/api/session`, { method: "DELETE", headers: { cookie: mine } });
  expect((await session(mine)).status).toBe(401);
});

test("once a revocation is answered no call with the token succeeds, at any door, however busy it was", async () => {
  const made = await butler(home, ["token", "create", "--name", "leaver", "--butler", "general"]);
  const leaver = made.stdout.trim();
  const client = new PatientClient({ name: "leaver", version: "1" });
  const requestInit = { headers: { authorization: `Bearer ${leaver}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${address}/butlers/general/mcp`), { requestInit }));
  const { cookie } = await post("/api/session", leaver, { token: leaver });
  expect(cookie).not.toBe("");
  const live = await fetch(`${address}/api/butlers/general/memory/activity/live`, { headers: requestInit.headers });
  expect(live.status).toBe(200);
  let revoked = false;
  const late: string[] = [];
  let before = 0;
  const ways: readonly ((n: number) => Promise<boolean>)[] = [
    async (n) => (await post(tool("memory_store_episode"), leaver, { content: `Busy with box ${n}.` })).status < 400,
    async () => (await post(tool("memory_stats"), leaver, {})).status < 400,
    async () => client.callTool({ name: "memory_search", arguments: { query: "box" } }).then(() => true, () => false),
    async () => (await fetch(`${address}/api/butlers`, { headers: { cookie } })).status < 400,
    async () => (await post("/hooks/gemini/SessionStart?butler=general", leaver, { session_id: "l", cwd: "/" })).status < 400,
  ]; // biome-ignore format: one way a line
  let stop = false;
  const busy = ways.map(async (way, nth) => {
    for (let n = 0; !stop; n++) {
      const begun = revoked;
      if (!(await way(n))) continue;
      if (begun) late.push(`way ${nth}, call ${n}`);
      else before += 1;
    }
  });
  while (before < 20) await new Promise((done) => setTimeout(done, 10));
  expect((await butler(home, ["token", "revoke", "leaver"])).code).toBe(0);
  revoked = true;
  for (const way of ways) for (let n = 0; n < 5; n++) expect(await way(n)).toBe(false);
  stop = true;
  await Promise.all(busy);
  expect(late).toEqual([]);
  // What follows the stream is cut off with the next thing that happens.
  await post(tool("memory_store_fact"), token, { subject: "after", predicate: "the", content: "revocation wqlatezx" });
  const told = await live.text();
  expect(told).not.toContain("wqlatezx");
  await client.close();
});

const ROOT = process.platform === "linux" && process.getuid?.() === 0;
const STRANGER = 65_534;

/** A home as it is on the first start in a folder that others could write to before. */
const LINKS: readonly string[] = ["spool", "openings", "logs", "run", "logs/owner.log", "logs/sessions.jsonl", "logs/refusals.jsonl", "logs/general.changed", "tokens.json", "token", "openings/general", "spool/failed"]; // biome-ignore format: a list of places

test("a link that somebody else has put into a home is neither written nor read through: nothing starts until it is gone", async ({
  skip,
}) => {
  skip(!ROOT, "only root can make a link of another user");
  const theirs = mkdtempSync(join(tmpdir(), "theirs-"));
  try {
    for (const place of LINKS) {
      const fresh = emptyHome();
      prepareHome(homeAt(fresh));
      const folder = join(theirs, place.replaceAll("/", "-"));
      const isFile = /\.|token/.test(place);
      if (isFile) writeFileSync(folder, "untouched\n");
      else mkdirSync(folder);
      const link = join(fresh, place);
      rmSync(link, { recursive: true, force: true });
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(folder, link);
      lchownSync(link, STRANGER, STRANGER);
      expect(() => prepareHome(homeAt(fresh)), place).toThrow(/is a link/);
      if (isFile) expect(readFileSync(folder, "utf8"), place).toBe("untouched\n");
      // One of one's own, for a larger disk, is used.
      lchownSync(link, 0, 0);
      if (!fresh.startsWith(tmpdir()) || place.includes("/") || isFile)
        expect(() => prepareHome(homeAt(fresh))).not.toThrow();
      expect(lstatSync(link).isSymbolicLink()).toBe(true);
    }
    // As a person meets it.
    const fresh = emptyHome();
    prepareHome(homeAt(fresh));
    symlinkSync(join(theirs, "elsewhere"), join(fresh, "logs", "general.changed"));
    lchownSync(join(fresh, "logs", "general.changed"), STRANGER, STRANGER);
    const refused = await butler(fresh, ["remember", "the tea is in the blue tin"]);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toMatch(/general\.changed is a link that another user has made/);
  } finally {
    rmSync(theirs, { recursive: true });
  }
});
