/** `butler bench peers` as a person runs it, small, with what needs no package. Needs `npm run build`. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import type { PeersReport } from "../../src/lab/peers/figures.ts";
import { testModel } from "../support/model.ts";
import { butler, cleanUp, emptyHome } from "../support/owner-processes.ts";

beforeAll(() => testModel());
afterAll(cleanUp);

const data = {
  name: "Small talk",
  corpora: [
    {
      id: "garden",
      memories: [
        { id: "1", session: "s", speaker: "Ada", text: "My tomatoes died of frost in April." },
        { id: "2", session: "s", speaker: "Grace", text: "I have learnt to play the violin." },
      ],
      questions: [{ id: "q", question: "What killed the tomatoes?", evidence: ["1"] }],
    },
  ],
};

test("peers measures who is there, and says why the others are not", async () => {
  const home = emptyHome();
  const file = join(home, "talk.json");
  writeFileSync(file, JSON.stringify(data));
  const url = inject("postgresUrl");
  const words = [
    "bench",
    "peers",
    "--n",
    "20",
    "--queries",
    "3",
    "--data",
    file,
    "--json",
    "--keep",
    join(home, "kept"),
  ];
  const env = url === undefined ? {} : { BUTLER_DATABASE_URL: url };
  const { code, stdout } = await butler(home, words, env);
  expect(code).toBe(0);
  const report = JSON.parse(stdout) as PeersReport;
  expect(report).toMatchObject({ n: 20, questions: 1, data: "Small talk" });
  const measured = report.peers.filter(({ figures }) => figures !== null);
  const onServer = ["Butler, PostgreSQL", "PostgreSQL"];
  const reasons = report.peers.filter(({ name }) => onServer.includes(name)).map(({ reason }) => reason);
  const none = "there is no server: BUTLER_DATABASE_URL is not set";
  expect(reasons).toEqual(url === undefined ? [none, none] : [undefined, undefined]);
  expect(measured).toHaveLength(url === undefined ? 1 : 3);
  for (const { figures } of measured) {
    expect(figures).toMatchObject({ given: 20, stored: 20, recall: 100, search: { count: 1 }, floor: { count: 1 } });
    expect(figures?.store_per_second).toBeGreaterThan(0);
    expect(figures?.per_second).toBeGreaterThan(0);
  }
  // What was kept is asked again, and not filled again: the seconds of filling are those of the first run.
  const again = await butler(home, [...words, "--only", "Butler, embedded"], env);
  const [kept] = (JSON.parse(again.stdout) as PeersReport).peers;
  expect(kept?.figures).toMatchObject({ recall: 100, stored: 20 });
  expect(kept?.figures?.store_seconds).toBe(report.peers[0]?.figures?.store_seconds);
  expect(existsSync(join(home, "kept", "butler-embedded", "filled.json"))).toBe(true);
  const sqlite = report.peers.find(({ name }) => name === "SQLite");
  expect(sqlite?.reason).toContain("--install fetches it");
});
