/** `butler model`, `doctor`, `demo` and `bench` as a person runs them. Needs `npm run build`. */
import { chmodSync, cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type Figure, figureLines } from "../../src/lab/everyday/figure.ts";
import { TEST_MODEL_CACHE, testModel } from "../support/model.ts";
import {
  agent,
  butler,
  cleanUp,
  emptyHome,
  ownerNote,
  seededHome,
  type Variables,
} from "../support/owner-processes.ts";

const NO_MODEL = { BUTLER_MODEL_DIR: "" };

// biome-ignore lint/suspicious/noExplicitAny: answers are checked by the assertions of each test, field by field.
type Json = any;

async function json(
  home: string,
  args: readonly string[],
  more: Variables = {},
): Promise<{ code: number | null; answer: Json; stderr: string }> {
  const { code, stdout, stderr } = await butler(home, [...args, "--json"], more);
  return { code, answer: JSON.parse(stdout), stderr };
}

/** Only what hangs takes as long, on the busiest machine too. */
const SLOW_MS = 20 * 60_000;

afterAll(cleanUp);

describe("butler model", () => {
  test("status finds the model in the owner's folder and says where it looked", async () => {
    await testModel();
    const { code, answer } = await json(emptyHome(), ["model", "status"]);
    const int8 = answer.variants.find((model: Json) => model.variant === "int8");
    expect(code).toBe(0);
    expect(answer).toMatchObject({ model: "all-MiniLM-L6-v2", usable: true });
    expect(int8).toMatchObject({ state: "present", origin: "modelDir", in_use: true, weights: { bytes: 22_972_370 } });
    expect(int8.weights.path.startsWith(TEST_MODEL_CACHE)).toBe(true);
    expect(int8.weights.sha256).toMatch(/^afdb6f1a/);
    expect(int8.looked_in.map(({ where }: Json) => where)).toEqual(["BUTLER_MODEL_DIR", "cache", "hub", "npm"]);
  });

  test("status tells missing (3) from corrupt (4)", async () => {
    const home = emptyHome();
    const missing = await json(home, ["model", "status"], NO_MODEL);
    expect(missing.code).toBe(3);
    expect(missing.answer.variants.map((model: Json) => model.state)).toEqual(["missing", "missing"]);

    cpSync(TEST_MODEL_CACHE, join(home, "models"), { recursive: true });
    const present = await json(home, ["model", "status"], NO_MODEL);
    expect([present.code, present.answer.variants[0].origin]).toEqual([0, "cache"]);
    writeFileSync(join(home, "models", "all-MiniLM-L6-v2", "tokenizer.json"), "{}");
    const corrupt = await butler(home, ["model", "status"], NO_MODEL);
    expect(corrupt.code).toBe(4);
    expect(corrupt.stdout).toContain("int8: corrupt");
    expect(corrupt.stderr).toContain("butler model pull");
  });

  test("pull leaves a sound model alone and refuses a variant that does not exist", async () => {
    const home = emptyHome();
    const { code, answer } = await json(home, ["model", "pull"]);
    expect([code, answer.pulled]).toMatchObject([0, [{ variant: "int8", already: true }]]);
    const wrong = await butler(home, ["model", "pull", "--variant", "int4"]);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("int8, fp32")]);
    expect((await butler(home, ["model"])).code).toBe(2);
  });
});

describe("butler doctor", () => {
  const stateOf = (answer: Json) => Object.fromEntries(answer.checks.map(({ check, state }: Json) => [check, state]));
  const foundBy = (answer: Json, name: string) => answer.checks.find(({ check }: Json) => check === name);

  test(
    "a healthy home without an owner",
    async () => {
      const { code, answer } = await json(await seededHome(), ["doctor"]);
      const all = [
        "node",
        "home",
        "disk",
        "tokens",
        "daemon.toml",
        "spool",
        "openings",
        "roster",
        "model int8",
        "owner",
        "port",
        "store general",
        "health general",
      ];
      expect(answer.checks.map(({ check }: Json) => check)).toEqual(all);
      expect(answer.checks.filter(({ state }: Json) => state !== "ok")).toEqual([]);
      expect([code, answer.ok]).toEqual([0, true]);
      expect(foundBy(answer, "model int8").found).toMatch(/0\.7[45]\d$/);
      expect(foundBy(answer, "store general").found).toContain("opens: 0 episodes");
    },
    SLOW_MS,
  );

  test("a running owner is asked and left running", async () => {
    const home = await seededHome();
    const visitor = await agent(home);
    await visitor.call("memory_store_episode", { content: "The doctor came by." });
    const owner = ownerNote(home);
    const { code, answer } = await json(home, ["doctor"]);
    expect(code).toBe(0);
    expect(foundBy(answer, "owner").found).toContain(
      `process ${owner?.pid}, version ${owner?.version}, since ${owner?.started}`,
    );
    expect(foundBy(answer, "store general").found).toContain("the owner answers: 1 episodes");
    expect(ownerNote(home)).toEqual(owner);
    await visitor.close();
  });

  test(
    "a memory that cannot learn is not well: the run has failed, and job history and doctor say why",
    async () => {
      const home = await seededHome();
      const roster = emptyHome();
      mkdirSync(join(roster, "general"));
      const toml = '[butler]\nname = "general"\n[modules.memory.extractor]\nprovider = "anthropic"\n';
      writeFileSync(join(roster, "general", "butler.toml"), toml);
      const env = { BUTLER_ROSTER: roster, ANTHROPIC_API_KEY: "" };
      const stored = await butler(
        home,
        ["call", "memory_store_episode", "--json", '{"content":"I live in Graz."}'],
        env,
      );
      expect(stored.code).toBe(0);
      const ran = await json(home, ["job", "run", "consolidate"], env);
      expect([ran.code, ran.answer]).toMatchObject([1, { state: "failed" }]);
      const why = /ANTHROPIC_API_KEY/;
      expect(ran.answer.error).toMatch(why);
      const history = await json(home, ["job", "history"], env);
      expect(history.answer.runs).toMatchObject([{ state: "failed", error: expect.stringMatching(why) }]);
      const asked = await json(home, ["doctor"], env);
      expect(foundBy(asked.answer, "store general")).toMatchObject({
        state: "warn",
        found: expect.stringMatching(why),
      });
      await butler(home, ["stop"], env);
      // Without an owner doctor looks into the store itself.
      const { stdout } = await butler(home, ["doctor"], env);
      expect(stdout).toMatch(why);
      expect(stdout).not.toContain("All is well");
    },
    SLOW_MS,
  );

  test("an empty place is fine and stays empty", async () => {
    const home = join(emptyHome(), "not-yet");
    const { code, stdout } = await butler(home, ["doctor"]);
    expect(code).toBe(0);
    expect(stdout).toContain("not there yet");
    expect(stdout).toContain("All is well.");
    expect(existsSync(home)).toBe(false);
  });

  test("a broken home: every fault is named with its remedy", async () => {
    const home = await seededHome();
    chmodSync(home, 0o755);
    chmodSync(join(home, "token"), 0o644);
    mkdirSync(join(home, "butlers", "ada", "store"), { recursive: true });
    writeFileSync(join(home, "butlers", "ada", "store", "notes.txt"), "not a store");
    const roster = emptyHome();
    mkdirSync(join(roster, "ada"));
    writeFileSync(join(roster, "ada", "butler.toml"), '[butler]\nname = "ada"\n[modules.memory]\n');
    const { code, answer } = await json(home, ["doctor"], { BUTLER_ROSTER: roster, ...NO_MODEL });
    expect([code, answer.ok]).toEqual([1, false]);
    expect(stateOf(answer)).toMatchObject({
      home: "warn",
      tokens: "fail",
      roster: "ok",
      "model int8": "warn",
      "store ada": "fail",
    });
    expect(foundBy(answer, "tokens").remedy).toContain(`chmod 600 ${join(home, "token")}`);
    expect(foundBy(answer, "store ada").found).toContain("holds files but no memory store");
  });

  test("a bad roster and a home that is a file", async () => {
    const roster = emptyHome();
    mkdirSync(join(roster, "ada"));
    writeFileSync(join(roster, "ada", "butler.toml"), '[butler]\nname = "ada"\nrole = "cook"\n');
    const home = join(emptyHome(), "home");
    writeFileSync(home, "");
    const { code, stdout } = await butler(home, ["doctor"], { BUTLER_ROSTER: roster });
    expect(code).toBe(1);
    expect(stdout).toMatch(/✗ home .*cannot be written/);
    expect(stdout).toMatch(/✗ roster .*butler\.role: found "cook"/);
    expect(stdout).toContain("→ Set BUTLER_HOME");
  });
});

describe("butler demo", () => {
  test(
    "lives through supersession, evidence, forgetting and expiry",
    async () => {
      const { code, answer } = await json(emptyHome(), ["demo"]);
      expect([code, answer.home, answer.degraded]).toEqual([0, null, null]);
      expect(answer.timeline).toHaveLength(8);
      expect(answer.search.results[0]).toMatchObject({ type: "fact", predicate: "lives_in", content: "Lisbon" });
      expect(answer.search.results.map(({ content }: Json) => content).join()).not.toContain("Hamburg");
      expect(answer.history.map(({ content, state, until }: Json) => [content, state, until === null])).toEqual([
        ["Hamburg", "superseded", false],
        ["Lisbon", "active", true],
      ]);
      expect(answer.context.text).toContain("- Ada / allergic_to: peanuts (permanent)");
      expect(answer.context.text).toContain("WARNING Avoid: Restart the payment worker");
      expect(answer.context.text).toMatch(/copy of production .*\(established, \w{8}\)/);
      expect(answer.context.text).not.toMatch(/Oslo|Hamburg|Tr0ub4dor/);
      expect(answer.stats).toMatchObject({
        facts: { by_state: { superseded: 3, retracted: 1 } },
        rules: { by_maturity: { established: 1, anti_pattern: 1 } },
        episodes: { total: 3 },
      });
      expect(answer.warning.was).toBe("Restart the payment worker when its queue grows.");
    },
    SLOW_MS,
  );

  test(
    "goes on without a model, fits 100 columns, and a kept home can be used",
    async () => {
      const folder = join(emptyHome(), "kept");
      const { code, stdout, stderr } = await butler(emptyHome(), ["demo", "--home", folder], NO_MODEL);
      expect(code).toBe(0);
      expect(stderr).toContain("degraded: there is no embedding model");
      expect(stdout).toContain("degraded:");
      const lines = stdout.split("\n").filter((line) => !line.includes(folder));
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
      const again = await butler(emptyHome(), ["demo", "--home", folder], NO_MODEL);
      expect([again.code, again.stderr]).toEqual([4, expect.stringContaining("holds memories already")]);
      const found = await json(folder, ["call", "memory_search", "--query", "Ada lives in"]);
      expect(found.answer.results[0]).toMatchObject({ content: "Lisbon" });
    },
    SLOW_MS,
  );
});

describe("butler bench", () => {
  test(
    "latency reports every figure with its target",
    async () => {
      const { code, answer } = await json(emptyHome(), ["bench", "latency", "--n", "100", "--queries", "5"]);
      expect(code).toBe(0);
      expect(answer).toMatchObject({
        n: 100,
        store: "pglite",
        queries: 5,
        build: { episodes: 80, facts: 15, rules: 5 },
      });
      const names = ["search hybrid", "search keyword", "search semantic", "context", "store episode"];
      const others = [
        "search hybrid, in a row",
        "context, in a row",
        "search, after a bulk load",
        "search, beside writes",
      ];
      expect(Object.keys(answer.calls)).toEqual([...names, ...others]);
      for (const name of names) {
        const { count, p50, p95, max, cpu_ms } = answer.calls[name];
        expect(count).toBe(5);
        expect(p50).toBeGreaterThan(0);
        expect(p50).toBeLessThanOrEqual(p95);
        expect(p95).toBeLessThanOrEqual(max);
        expect(cpu_ms).toBeGreaterThan(0);
      }
      expect(answer.calls["search keyword"].embed_p50).toBe(0);
      expect(answer.calls["search hybrid"].steps).toMatchObject({
        embedding: expect.any(Number),
        JavaScript: expect.any(Number),
      });
      expect(Object.keys(answer.socket)).toEqual(["search hybrid", "context", "store episode"]);
      expect(answer.first_answer_ms).toMatchObject({
        new_process: { count: 3 },
        with_owner: { count: 3 },
        open_store: expect.any(Number),
      });
      expect(answer.memory_mb.owner).toBeGreaterThan(answer.memory_mb.proxy);
      expect(answer.targets).toHaveLength(19);
      for (const { met, figure, target } of answer.targets)
        expect([met, figure, target]).toEqual([expect.any(Boolean), expect.any(Number), expect.any(Number)]);
    },
    2 * SLOW_MS,
  );

  test(
    "everyday sets every figure beside its floor",
    async () => {
      const { code, answer } = await json(emptyHome(), ["bench", "everyday", "--n", "100", "--runs", "1"]);
      expect(code).toBe(0);
      expect(answer).toMatchObject({ n: 100, runs: 1 });
      const { figures } = answer as { figures: Figure[] };
      for (const { is, floor, ratio } of figures.filter(({ unit }) => unit !== "runs"))
        expect([is, floor, ratio]).toEqual([expect.any(Number), expect.any(Number), expect.any(Number)]);
      // Times and sizes depend on the machine; what a model is handed does not.
      const missed = figures.filter(({ unit, met }) => unit === "tokens" && met === false);
      expect(missed).toEqual([]);
      expect([...new Set(figures.map(({ group }) => group))]).toHaveLength(4);
      expect(figureLines(figures).join("\n")).toContain("list of the core tools");
    },
    2 * SLOW_MS,
  );

  test("asks for sense", async () => {
    const home = emptyHome();
    expect((await butler(home, ["bench"])).code).toBe(2);
    expect((await butler(home, ["bench", "latency", "--n", "many"])).code).toBe(2);
    expect((await butler(home, ["bench", "latency", "--store", "postgres"])).stderr).toContain("BUTLER_DATABASE_URL");
  });
});
