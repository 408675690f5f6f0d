/** `butler bench quality` from its words to its figures, on an embedded store and with the real model. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { run } from "../../src/lab/bench.ts";
import type { QualityRun } from "../../src/lab/quality/report.ts";
import { readEnvironment } from "../../src/main/environment.ts";
import { TEST_MODEL_CACHE, testModel } from "../support/model.ts";

const folder = mkdtempSync(join(tmpdir(), "bq-"));
beforeAll(() => testModel());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const talk = {
  name: "Small talk",
  corpora: [
    {
      id: "garden",
      memories: [
        {
          id: "1",
          session: "s1",
          time: "2024-03-15T10:00:00Z",
          speaker: "Ada",
          text: "My tomatoes died of frost in April.",
        },
        { id: "2", session: "s1", time: "March-15-2024", speaker: "Grace", text: "Cover them with fleece at night." },
        { id: "3", session: "s1", speaker: "Ada", text: "Thank you!" },
        { id: "4", session: "s1", speaker: "Ada", text: "Thank you!" },
        { id: "5", session: "s2", speaker: "Grace", text: "I have learnt to play the violin." },
        { id: "6", session: "s2", speaker: "Ada", text: `${"too long ".repeat(12_000)}` },
      ],
      questions: [
        { id: "q1", question: "What killed the tomatoes?", category: "one", evidence: ["1"] },
        { id: "q2", question: "Which musical instrument does Grace play?", category: "one", evidence: ["5"] },
        { id: "q3", question: "Thank you", category: "many", evidence: ["3", "4"] },
        { id: "q4", question: "Nobody knows?", category: "many", evidence: [] },
      ],
    },
    {
      id: "boat",
      memories: [{ id: "1", session: "s1", speaker: "Alan", text: "The boat needs a new sail before summer." }],
      questions: [{ id: "q1", question: "What does the boat need?", category: "one", evidence: ["1", "9"] }],
    },
  ],
};
const papers = {
  corpora: [
    {
      id: "papers",
      memories: [
        { id: "a", text: "Frost damages the cell walls of plants." },
        { id: "b", text: "Strings of an instrument vibrate at their harmonics." },
      ],
      questions: [{ id: "q", question: "Ice harms vegetation", evidence: ["a"] }],
    },
  ],
};

function dataFile(name: string, data: object): string {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(data));
  return path;
}
const talkFile = dataFile("talk.json", talk);
const papersFile = dataFile("papers.json", papers);

async function bench(args: readonly string[], variables: Record<string, string> = {}): Promise<string> {
  const said: string[] = [];
  const environment = readEnvironment({
    BUTLER_HOME: join(folder, "home"),
    BUTLER_MODEL_DIR: TEST_MODEL_CACHE,
    ...variables,
  });
  const code = await run(["quality", ...args], { environment, say: (line) => said.push(line), note: () => undefined });
  expect(code).toBe(0);
  return said.join("\n");
}

describe("butler bench quality", () => {
  test("asks every question and gives all figures of the protocol", async () => {
    const report = JSON.parse(await bench(["--data", talkFile, "--json"])) as QualityRun;
    expect(report).toMatchObject({
      name: "Small talk",
      n: 4,
      // Everything fits into five places, but the evidence that does not exist is not found.
      recall_frac: { "5": 0.875, "10": 0.875, "20": 0.875, "50": 0.875 },
      any: { "5": 1 },
      all: { "5": 0.75 },
      budget: { "512": 0.875, "1024": 0.875, "2048": 0.875 },
      // One memory stands for both times that thanks were said.
      categories: { many: { n: 1, recall_frac: { "5": 1 } }, one: { n: 3 } },
      mode: "hybrid",
      variant: "full",
      store: "pglite",
      model: { name: "all-MiniLM-L6-v2 int8", file: "model_quantized.onnx" },
      index: { kind: "per corpus", memories: 7, distractors: 0 },
      left_out: { empty_questions: 1, unknown_evidence: 1, unreadable_times: 0, refused_memories: 1 },
    });
    expect(report.left_out.why_refused).toContain("longer than 100,000 characters");
    expect(Object.keys(report.ms)).toEqual(["p50", "p95", "cpu", "embed"]);
    expect(report.ms.embed).toBeGreaterThan(0);
    expect(report.queries_per_second).toBeGreaterThan(0);
    expect(report.degraded).toBeUndefined();
  });

  test("builds once and keeps; compares a store for each corpus with one for everything", async () => {
    const keep = join(folder, "keep");
    const both = ["--data", talkFile, "--data", papersFile, "--keep", keep];
    const one = ["--data", papersFile, "--keep", keep];
    await bench(one);

    const built = () =>
      new Map(readdirSync(keep).map((name) => [name, statSync(join(keep, name, "filled.json")).mtimeMs]));
    const [papersStore] = built();
    expect(built().size).toBe(1);
    const again = await bench([...both, "--mode", "keyword"]);
    const before = built();
    expect(before.size).toBe(3);
    expect([...before]).toContainEqual(papersStore);
    expect(again).toContain("Small talk: 4 questions");
    expect(again).toContain("papers: 1 questions");
    expect(built()).toEqual(before);

    const pooled = [...both, "--pool", "--distractors", "150", "--json"];
    const { runs } = JSON.parse(await bench(pooled)) as { runs: QualityRun[] };
    expect(runs.map((one) => one.file)).toEqual(["talk.json", "papers.json"]);
    for (const one of runs) {
      expect(one.index).toEqual({ kind: "pool", memories: 9, distractors: 150 });
      expect(one.alone?.recall_frac["50"]).toBe(one.file === "talk.json" ? 0.875 : 1);
    }
    // Both corpora of the talk have a memory "1"; each question finds its own.
    expect(runs[0]?.recall_frac["5"]).toBe(0.875);
    // What each would be alone was asked of the stores that were there.
    expect([...built()]).toEqual(expect.arrayContaining([...before]));
    expect(built().size).toBe(4);
  });

  test("works without a model, and says so", async () => {
    const text = await bench(["--data", papersFile, "--no-model"], { BUTLER_MODEL_DIR: "" });
    expect(text).toContain("no model");
    expect(text).toContain("Answers were degraded");
  });

  test.skipIf(inject("postgresUrl") === undefined)(
    "compares variants on a server, and leaves no database behind",
    async () => {
      const BUTLER_DATABASE_URL = inject("postgresUrl") ?? "";
      const svg = join(folder, "svg");
      const first = JSON.parse(
        await bench(["--data", papersFile, "--store", "postgres", "--ablation", "--svg", svg, "--json"], {
          BUTLER_DATABASE_URL,
        }),
      ) as { runs: QualityRun[] };
      const names = [...new Set(first.runs.map(({ variant }) => variant))];
      expect(names).toEqual(expect.arrayContaining(["full", "keyword only", "semantic only"]));
      expect(first.runs).toHaveLength(names.length);
      const found = (variant: string, file: string) =>
        first.runs.find((run) => run.variant === variant && run.file === file);
      expect(found("keyword only", "papers.json")).toMatchObject({ mode: "keyword", recall_frac: { "5": 0 } });
      expect(found("semantic only", "papers.json")).toMatchObject({ mode: "semantic", recall_frac: { "5": 1 } });
      expect(found("keyword only", "papers.json")?.difference).toMatchObject({ "recall_frac@10": -1 });
      expect(found("full", "papers.json")?.difference).toBeUndefined();
      expect(readFileSync(join(svg, "recall-at-10.svg"), "utf8")).toContain("papers");
      expect(found("full", "papers.json")).toMatchObject({ store: "postgres", recall_frac: { "5": 1 } });
      const { openPostgres } = await import("../../src/engine/adapters/db/postgres.ts");
      const db = await openPostgres({ url: BUTLER_DATABASE_URL, max: 1 });
      const left = await db.query("select 1 from pg_database where datname like $1", [`butler_q_${process.pid}_%`]);
      await db.close();
      expect(left).toEqual([]);
    },
  );

  test("refuses what it cannot measure, with words", async () => {
    await expect(bench([])).rejects.toThrow("--data <file>");
    await expect(bench(["--data", join(folder, "none.json")])).rejects.toThrow("There is no data file");
    await expect(bench(["--data", dataFile("bad.json", { corpora: [{}] })])).rejects.toThrow("corpora.0.id");
    await expect(bench(["--data", talkFile, "--mode", "psychic"])).rejects.toThrow("hybrid, semantic or keyword");
    await expect(bench(["--data", talkFile, "--rerank", "dice"])).rejects.toThrow("cross-encoder or none");
    await expect(bench(["--data", talkFile, "--distractors", "5"])).rejects.toThrow("--pool");
    await expect(bench(["--data", talkFile, "--n", "5"])).rejects.toThrow("There is no flag --n");
    await expect(bench(["--data", talkFile], { BUTLER_MODEL_DIR: "" })).rejects.toThrow("butler model pull");
  });
});
