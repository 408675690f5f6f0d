import { writeFileSync } from "node:fs";
import { createServer as createHttp, type RequestListener } from "node:http";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { homeAt, prepareHome } from "../../src/daemon/home.ts";
import { butler, emptyHome, seededHome, up } from "../support/owner-processes.ts";
import { PATIENCE } from "../support/patience.ts";
import { stage } from "../support/run-sessions.ts";
import { REAL_TIME } from "../support/slow-time.ts";

const WITHOUT = /Memory is unavailable \([^)]+.*\); this session runs without it\./g;

const { agent, helper, run, firstStart, rosterWith, close } = stage();
afterAll(close);

describe("with a memory that does not", () => {
  const servers: Server[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await new Promise<void>((done) => server.close(() => done()));
  });

  /** Answer, exit code and one sentence, whatever is wrong. */
  async function goesOn(home: string, more: Readonly<Record<string, string>> = {}) {
    agent.plan({ result: "All the same.", code: 3, stderr: "a word\n" });
    const ran = await run(home, ["general", "Hello"], more);
    expect(ran).toMatchObject({ code: 3, stdout: "All the same.\n" });
    expect(ran.stderr.match(WITHOUT)).toHaveLength(1);
    expect(ran.stderr.replace(WITHOUT, "")).toBe("\na word\n");
    expect(firstStart().mcp).toEqual({ mcpServers: {} });
    return ran.stderr;
  }

  /** Somebody at the owner's socket who is no owner. */
  async function impostor(home: string, server: Server): Promise<void> {
    prepareHome(homeAt(home));
    servers.push(server);
    await new Promise<void>((done) => server.listen(homeAt(home).socket, done));
  }
  const answering = (listener: RequestListener) => createHttp(listener) as Server;

  it("goes on when nobody owns it", async () => {
    const words = await goesOn(emptyHome(), { BUTLER_AUTOSTART: "0" });
    expect(words).toMatch(/no owner of the memory is running/i);
  });

  it("goes on when its owner accepts and stays silent", async () => {
    const home = emptyHome();
    const open = new Set<{ destroy(): void }>();
    const silent = createServer((socket) => open.add(socket));
    await impostor(home, silent);
    expect(await goesOn(home, REAL_TIME)).toContain("no answer within 2 s");
    for (const socket of open) socket.destroy();
  });

  it.each<[string, RequestListener, RegExp]>([
    ["talks nonsense", (_, out) => out.end("<html>"), /cut off|unavailable/],
    ["refuses", (_, out) => out.writeHead(404).end('{"ok":false,"error":{"message":"No desk here."}}'), /No desk here/],
    ["answers something else", (_, out) => out.end('{"butler":7}'), /not understood/],
    [
      "never comes to an end",
      (_, out) => {
        const more = setInterval(() => out.write('{"butler":"general"'), 5);
        out.on("close", () => clearInterval(more));
      },
      /no answer within 2 s/,
    ],
    [
      "answers with far too much",
      (_, out) =>
        out.end(
          JSON.stringify({
            butler: "general",
            runtime: { command: "claude", args: [] },
            instructions: "",
            context: { text: "x".repeat(2_000_000), tokens: 9, hash: "h" },
          }),
        ),
      /too long/,
    ],
  ])("goes on when its owner %s", async (_, listener, why) => {
    const home = emptyHome();
    await impostor(home, answering(listener));
    const time = why.source.includes("no answer") ? REAL_TIME : {};
    expect(await goesOn(home, { BUTLER_AUTOSTART: "0", ...time })).toMatch(why);
  });

  it("goes on with its own instructions and command when the roster is broken", async () => {
    const roster = rosterWith(
      '[butler]\nname = "general"\n[butler.runtime]\ncommand = "helper"\nargs = ["--q", "{prompt}"]\n[butler.schedule]\nnonsense = 3\n[modules.memory]\n',
      "You are the harbour master.",
    );
    helper.plan({ result: "Still here." });
    const ran = await run(emptyHome(), ["general", "Hello"], { BUTLER_ROSTER: roster });
    expect(ran).toMatchObject({ code: 0, stdout: "Still here.\n" });
    expect(ran.stderr.match(WITHOUT)).toHaveLength(1);
    expect(ran.stderr).toContain("nonsense");
    expect(firstStart(helper)).toMatchObject({
      argv: ["--q", "Hello"],
      system: "You are the harbour master.",
      stdin: "",
    });
    writeFileSync(join(roster, "general", "butler.toml"), "not toml at all [");
    agent.plan({ result: "With what is always there." });
    const worse = await run(emptyHome(), ["general", "Hello"], { BUTLER_ROSTER: roster });
    expect(worse).toMatchObject({ code: 0, stdout: "With what is always there.\n" });
    expect(firstStart().system).toBe("You are the harbour master.");
  });

  it("is told later what happened meanwhile, once", async () => {
    const home = await seededHome();
    agent.plan({ transcript: [{ answer: "The ferry is called Hilde." }] }, { result: "The tug is called Otto." });
    for (const prompt of ["How is the ferry called?", "How is the tug called?"]) {
      const ran = await run(home, ["general", prompt, "--json"], { BUTLER_AUTOSTART: "0" });
      expect(JSON.parse(ran.stdout)).toMatchObject({ episodes: 0, later: true });
    }
    await up(home);
    await vi.waitFor(
      async () => {
        const found = await butler(home, ["call", "memory_search", "--json", '{"query":"ferry tug called"}']);
        const { results } = JSON.parse(found.stdout) as { results: readonly { content: string }[] };
        expect(results.map(({ content }) => /Hilde|Otto/.exec(content)?.[0]).sort()).toEqual(["Hilde", "Otto"]);
      },
      { ...PATIENCE, interval: 500 },
    );
  });
});
