import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ModelApis, type ModelRequest, modelApis } from "../support/model-apis.ts";
import { butler, cleanUp, seededHome, up, variablesFor } from "../support/owner-processes.ts";
import { PATIENCE } from "../support/patience.ts";
import {
  agentsFolder,
  type Desk,
  furnish,
  HANDLING,
  REAL_AGENTS,
  type RealAgent,
  runAgent,
  type Turn,
} from "../support/real-agents.ts";

const wanted = process.env.BUTLER_TEST_AGENTS ?? "";

const TOLD = "Please remember: the staging database listens on port 5433 and Mrs Olsen keeps the lighthouse.";
const ASKED = "On which port does the staging database listen, and who keeps the lighthouse?";
const MORE = "Thank you. Which branch of the repository do we deploy from on Fridays?";
const ANSWER = "Mrs Olsen, on that port.";

const BLOCK = /(?:<|&lt;)butler-memory(?:>|&gt;)[\s\S]*?(?:<|&lt;)\/butler-memory(?:>|&gt;)/g;
const blocksOf = ({ text }: ModelRequest): string[] => text.match(BLOCK) ?? [];
/** Where any tag of ours stands, also a lonely one. */
const tagsOf = ({ text }: ModelRequest): number => text.split(/(?:<|&lt;)\/?butler-memory/).length - 1;
const timesIn = (text: string, words: string): number => text.split(words).length - 1;

describe.skipIf(wanted === "").each(REAL_AGENTS)(
  'the real %s (skipped unless BUTLER_TEST_AGENTS is a folder with its npm package, or "install")',
  (agent: RealAgent) => {
    const root = mkdtempSync(join(tmpdir(), `real-${agent}-`));
    let api: ModelApis;
    let home: string;
    let desk: Desk;

    beforeAll(async () => {
      const program = HANDLING[agent].program(await agentsFolder(wanted));
      if (program === undefined) throw new Error(`${HANDLING[agent].comesIn} is not in ${wanted}.`);
      api = await modelApis();
      home = await seededHome();
      await up(home);
      await butler(home, ["search", "anything"]);
      desk = { user: join(root, "user"), project: join(root, "project"), url: api.url, program };
      for (const folder of [desk.user, desk.project]) mkdirSync(folder);
      furnish(agent, desk);
      const installed = await butler(home, ["install", agent], { HOME: desk.user });
      expect(installed).toMatchObject({ code: 0, stderr: "" });
    }, 900_000);
    afterAll(async () => {
      await cleanUp();
      await api?.close();
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    });

    async function turn(wished: Turn): Promise<{ stderr: string; requests: ModelRequest[] }> {
      const { PATH: _, HOME: __, ...variables } = variablesFor(home, {});
      const said = await runAgent(agent, desk, wished, variables);
      expect(said, said.stderr).toMatchObject({ code: 0 });
      return { stderr: said.stderr, requests: api.taken() };
    }

    /** What was said last is picked up in the background. */
    async function stored(count: number): Promise<void> {
      const args = ["call", "memory_stats", "--json", '{"scope":"*"}'];
      const total = async () => JSON.parse((await butler(home, args)).stdout).episodes.total as number;
      await expect.poll(total, { ...PATIENCE, interval: 500 }).toBe(count);
    }

    it("knows in a second session what the first was told, once, and is not told its own words", async () => {
      api.says("Noted.");
      const first = await turn({ prompt: TOLD });
      expect(first.requests.map(tagsOf).filter(Boolean)).toEqual([]);
      expect(first.stderr).not.toMatch(/clamping|butler|hook.*(?:fail|error|timeout)/i);
      await stored(1);

      api.says(ANSWER);
      const second = await turn({ prompt: ASKED });
      const conversation = second.requests.filter(({ main }) => main);
      expect(conversation.length).toBeGreaterThan(0);
      const [told = ""] = conversation.flatMap(blocksOf);
      for (const request of conversation) {
        expect(blocksOf(request)).toEqual([told]);
        expect(tagsOf(request)).toBe(2);
        for (const words of [TOLD, ASKED]) expect(timesIn(request.text, words)).toBe(1);
      }
      expect(told).toContain(TOLD);
      expect(told).not.toContain(ASKED);
      // Titles and the like.
      for (const request of second.requests.filter(({ main }) => !main)) expect(tagsOf(request)).toBe(0);
      await stored(2);

      const third = await turn({ prompt: MORE, goesOn: true });
      for (const request of third.requests) {
        expect(blocksOf(request)).toEqual([told]);
        expect(tagsOf(request)).toBe(2);
        for (const words of [TOLD, ASKED, ANSWER, MORE]) expect(timesIn(request.text, words)).toBe(1);
      }
      expect(third.requests.length).toBeGreaterThan(0);
      await stored(3);
      const found = await butler(home, ["call", "memory_search", "--json", '{"query":"staging port","scope":"*"}']);
      expect(found.stdout).toContain(ASKED);
      expect(found.stdout).not.toMatch(/butler-memory|hook_context|Background from/);
    }, 600_000);

    it.runIf(agent === "claude-code")(
      "is told anew after a compaction, still without its own words",
      async () => {
        await turn({ prompt: "/compact", goesOn: true });
        const { requests } = await turn({ prompt: "Who keeps the lighthouse by the staging port?", goesOn: true });
        expect(requests.length).toBeGreaterThan(0);
        for (const request of requests) {
          const told = blocksOf(request).join("\n");
          expect(timesIn(told, TOLD)).toBe(1);
          for (const words of [ASKED, MORE]) expect(told).not.toContain(words);
        }
      },
      600_000,
    );
  },
);
