/** The alert rules by promtool, and a real Prometheus that scrapes a real daemon. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, inject, test, vi } from "vitest";
import { alertsOf, metricsIn } from "../support/ops-files.ts";
import { agent, butler, cleanUp, seededHome, up } from "../support/owner-processes.ts";
import { PATIENCE } from "../support/patience.ts";

const run = promisify(execFile);
const ops = fileURLToPath(new URL("../../ops/", import.meta.url));
const programs = inject("prometheus");

const servers = new Set<ChildProcess>();
const folders: string[] = [];
afterAll(async () => {
  for (const server of servers) server.kill("SIGKILL");
  await cleanUp();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

interface Answer {
  readonly data: {
    readonly result?: readonly { readonly metric: Record<string, string>; readonly value: [number, string] }[];
    readonly groups?: readonly { readonly rules: readonly { readonly name: string; readonly health: string }[] }[];
    readonly activeTargets?: readonly { readonly health: string; readonly lastError: string }[];
  };
}

/** The example configuration of `ops`, with the address, the token and the rules of this test. */
async function startPrometheus(program: string, target: string, token: string) {
  const folder = mkdtempSync(join(tmpdir(), "prom-"));
  folders.push(folder);
  writeFileSync(join(folder, "token"), token, { mode: 0o600 });
  const config = readFileSync(join(ops, "prometheus.yml"), "utf8")
    .replaceAll("15s", "5s")
    .replace("- alerts.yml", `- ${join(ops, "alerts.yml")}`)
    .replaceAll("/etc/prometheus/butler-token", join(folder, "token"))
    .replace("127.0.0.1:4270", new URL(target).host);
  writeFileSync(join(folder, "prometheus.yml"), config);
  const port = await freePort();
  const server = spawn(
    program,
    [
      `--config.file=${join(folder, "prometheus.yml")}`,
      `--storage.tsdb.path=${join(folder, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--log.level=error",
    ],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  servers.add(server);
  return async (path: string): Promise<Answer["data"]> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
    return ((await response.json()) as Answer).data;
  };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, "close");
  return port;
}

describe.skipIf(programs === undefined)("Prometheus", () => {
  const { prometheus = "", promtool = "" } = programs ?? {};

  test("promtool finds no fault in the rules and the example, and the rules fire when they should", async () => {
    expect((await run(promtool, ["check", "rules", join(ops, "alerts.yml")])).stdout).toContain("SUCCESS");
    const checked = await run(promtool, ["check", "config", "--syntax-only", join(ops, "prometheus.yml")]);
    expect(checked.stdout).toContain("SUCCESS");
    expect((await run(promtool, ["test", "rules", "alerts.test.yml"], { cwd: ops })).stdout).toContain("SUCCESS");
  });

  test("it scrapes a daemon with a reader's token, has its series and evaluates the rules", async () => {
    const home = await seededHome();
    const daemon = await up(home);
    const line = await agent(home);
    await line.call("memory_store_fact", { subject: "dns", predicate: "provider", content: "Route 53" });
    await line.call("memory_search", { query: "dns" });
    await line.close();
    const { stdout } = await butler(home, ["token", "create", "--name", "prometheus", "--reader"]);
    const ask = await startPrometheus(prometheus, daemon.address, stdout.trim());

    const query = async (expr: string) => (await ask(`query?query=${encodeURIComponent(expr)}`)).result ?? [];
    const value = async (expr: string) => (await query(expr))[0]?.value[1];
    await vi.waitFor(async () => expect(await value("butler_store_up")).toBe("1"), { ...PATIENCE, interval: 500 });
    expect((await ask("targets")).activeTargets).toMatchObject([{ health: "up", lastError: "" }]);
    expect(await value('sum(butler_tool_duration_seconds_count{tool="memory_search", door="mcp", error=""})')).toBe(
      "1",
    );
    expect(await value('sum(mcp_server_operation_duration_seconds_count{gen_ai_tool_name="memory_search"})')).toBe("1");
    expect(await value('butler_facts{state="active"}')).toBe("1");
    expect(await value("butler_dead_letters")).toBe("0");
    expect(Number(await value("butler_database_bytes"))).toBeGreaterThan(1e6);
    await vi.waitFor(
      async () => {
        const rules = (await ask("rules")).groups?.flatMap(({ rules: some }) => some) ?? [];
        const names = alertsOf(readFileSync(join(ops, "alerts.yml"), "utf8")).map(({ name }) => name);
        expect(rules.map(({ name }) => name)).toEqual(names);
        expect(rules.filter(({ health }) => health !== "ok")).toEqual([]);
      },
      { ...PATIENCE, interval: 500 },
    );
    expect(await query('ALERTS{alertstate="firing"}')).toEqual([]);

    const text = await (
      await fetch(`${daemon.address}/metrics`, { headers: { authorization: `Bearer ${stdout.trim()}` } })
    ).text();
    const exported = new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name));
    const files = ["alerts.yml", "grafana.json"].map((name) => readFileSync(join(ops, name), "utf8"));
    const used = [
      ...alertsOf(files[0]!).map(({ expr }) => expr),
      ...[...files[1]!.matchAll(/"expr": (".*")/g)].map(([, expr]) => JSON.parse(expr!) as string),
    ].flatMap(metricsIn);
    const missing = used.filter(
      ({ name }) => name !== "up" && !exported.has(name) && !exported.has(name.replace(/_(?:bucket|sum|count)$/, "")),
    );
    expect(missing).toEqual([]);
  });
});

describe("who may read /metrics", () => {
  test("a token for every butler; not one of a single butler or of a tenant, nor nobody, unless the operator opens it", async () => {
    const home = await seededHome();
    const daemon = await up(home);
    const token = async (...args: string[]) => (await butler(home, ["token", "create", ...args])).stdout.trim();
    const read = async (address: string, bearer?: string) =>
      (await fetch(`${address}/metrics`, { headers: bearer ? { authorization: `Bearer ${bearer}` } : {} })).status;
    const reader = await token("--name", "a", "--reader");
    expect(await read(daemon.address)).toBe(401);
    expect(await read(daemon.address, reader)).toBe(200);
    expect(await read(daemon.address, await token("--name", "b", "--butler", "general"))).toBe(403);
    expect(await read(daemon.address, await token("--name", "c", "--tenant", "others"))).toBe(403);
    const written = await fetch(`${daemon.address}/api/butlers/general/tools/memory_store`, {
      method: "POST",
      headers: { authorization: `Bearer ${reader}`, "content-type": "application/json" },
      body: JSON.stringify({ content: "by a reader" }),
    });
    expect(written.status).toBe(403);
    daemon.child.kill("SIGTERM");
    await daemon.ended;
    const opened = await up(home, [], { BUTLER_METRICS: "open" });
    expect(await read(opened.address)).toBe(200);
    const { code, stderr } = await butler(home, ["stats"], { BUTLER_METRICS: "perhaps" });
    expect([code, stderr]).toEqual([2, expect.stringContaining("it must be token (the default) or open")]);
  });
});
