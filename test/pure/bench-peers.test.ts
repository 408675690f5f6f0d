/** What peers are given, how answers are compared, and where we are said to lose. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Embedder } from "../../src/engine/adapters/embedder/port.ts";
import { knownVectors } from "../../src/lab/known-vectors.ts";
import { shareOf } from "../../src/lab/peers/asked.ts";
import { serveEmbeddings } from "../../src/lab/peers/embeddings-server.ts";
import { type PeerResult, peerLines } from "../../src/lab/peers/figures.ts";
import { materialOf, withoutTwins } from "../../src/lab/peers/material.ts";
import { fillOpened, type PeerFigures } from "../../src/lab/peers/measure.ts";
import { noteKeys } from "../../src/lab/peers/ours.ts";
import { loaderOf, missing } from "../../src/lab/peers/packages.ts";
import { fused, isNamed, type OpenPeer, wordsOf } from "../../src/lab/peers/peer.ts";
import type { PeerProcess } from "../../src/lab/peers/process.ts";
import { lostTo, standingLines, standings } from "../../src/lab/peers/standings.ts";
import { askInTurns, turnsOf } from "../../src/lab/peers/turns.ts";

const spread = (p50: number) => ({ count: 10, p50, p95: 2 * p50, max: 3 * p50 });

function result(name: string, p50: number, persists = true, recall: number | null = null): PeerResult {
  const figures: PeerFigures = {
    given: 100,
    stored: 97,
    store_seconds: 1,
    store_per_second: 100,
    search: spread(p50),
    floor: spread(5),
    times_floor: { p50: p50 / 5, p95: p50 / 5 },
    per_second: 100,
    cpu_ms: 5,
    server_cpu_ms: null,
    resident_mb: 200,
    recall,
  };
  return { name, what: "…", persists, embeds: "itself", needsServer: false, packages: {}, figures };
}

describe("material", () => {
  test("is the same each time, and no question is asked twice", async () => {
    const material = await materialOf(50, 20, undefined);
    expect(await materialOf(50, 20, undefined)).toEqual(material);
    expect(new Set(material.memories.map(({ key }) => key)).size).toBe(50);
    const asked = [...material.questions.map(({ text }) => text), ...material.at_once, ...material.alone];
    expect([asked.length, new Set(asked).size]).toEqual([60, 60]);
  });

  test("holds what two people said alike once, and evidence follows", () => {
    const { memories, keyOf } = withoutTwins([
      { key: "1", text: "Thank you!", speaker: "Ada" },
      { key: "2", text: "Thank you!", speaker: "Ada" },
      { key: "3", text: "Thank you!", speaker: "Grace" },
    ]);
    expect(memories.map(({ key }) => key)).toEqual(["1", "3"]);
    expect(["1", "2", "3", "4"].map(keyOf)).toEqual(["1", "1", "3", "4"]);
  });
});

test("peers are chosen by parts of their names", () => {
  const names = ["Butler, embedded", "Butler, PostgreSQL", "PostgreSQL", "LangGraph, PostgresStore"];
  const chosen = (only?: string) => names.filter((name) => isNamed(name, only));
  expect(chosen()).toEqual(names);
  expect(chosen("butler")).toEqual(names.slice(0, 2));
  expect(chosen("embedded / postgresql")).toEqual(names.slice(0, 3));
  expect(chosen("nobody")).toEqual([]);
});

test("ranks are fused, words lose what has a meaning in a query, and recall is of the first ten", () => {
  expect(
    fused(
      [
        ["a", "b"],
        ["b", "c"],
      ],
      2,
    ),
  ).toEqual(["b", "a"]);
  expect(wordsOf(`Who said "OR" (near) it's 3*?`)).toEqual(["who", "said", "or", "near", "it", "s", "3"]);
  const eleven = Array.from({ length: 11 }, (_, index) => String(index));
  expect([shareOf(["0", "10"], eleven), shareOf(["9"], eleven)]).toEqual([0.5, 1]);
});

test("peers are asked in turns, each part once, and one that fails is left out from then on", async () => {
  const turns = turnsOf(200, 200);
  const asked = turns.flatMap((turn) => ("one" in turn ? [turn.one] : []));
  expect(asked.map(([from, to]) => to - from)).toEqual(Array(8).fill(25));
  expect(turns.slice(8)).toEqual([{ at_once: [0, 100] }, { at_once: [100, 200] }]);
  expect(turnsOf(1, 3)).toEqual([{ one: [0, 1] }, { at_once: [0, 1] }, { at_once: [1, 3] }]);
  const heard: string[] = [];
  const peer = (name: string, fails: number): PeerProcess => {
    let told = 0;
    return {
      answer: async <T>() => {
        if (told === fails) throw new Error(`${name} has died`);
        return { name } as T;
      },
      tell: (turn) => {
        told++;
        heard.push(`${name} ${JSON.stringify(turn)}`);
      },
      end: () => undefined,
      kill: () => undefined,
    };
  };
  const peers = new Map([
    ["a", peer("a", Number.NaN)],
    ["b", peer("b", 2)],
  ]);
  const results = await askInTurns(peers, [{ one: [0, 1] }, { one: [1, 2] }, { at_once: [0, 1] }], () => undefined);
  expect(heard.map((line) => line.slice(0, 1)).join("")).toBe("ababa");
  expect(results).toEqual(
    new Map<string, unknown>([
      ["a", { name: "a" }],
      ["b", "b has died"],
    ]),
  );
});

test("memories that a peer refused are not counted as stored, and it is given the next ones", async () => {
  const material = await materialOf(250, 1, undefined);
  const rows: string[] = [];
  const peer = (stored: (count: number) => number | undefined): OpenPeer => ({
    async store(memories) {
      rows.push(...memories.map(({ key }) => key));
      return stored(memories.length);
    },
    search: async () => [],
    close: async () => undefined,
  });
  const vectors = { modelMs: () => 0, save: async () => undefined };
  const fill = (one: OpenPeer, fill_ms = 60_000) => fillOpened(one, { material, fill_ms }, vectors, undefined);
  expect(await fill(peer((count) => count - 1))).toMatchObject({ given: 250, stored: 247 });
  expect(rows).toEqual(material.memories.map(({ key }) => key));
  expect(await fill(peer(() => 0))).toMatchObject({ given: 250, stored: 0, store_per_second: 0 });
  // An interface that does not tell.
  expect(await fill(peer(() => undefined))).toMatchObject({ given: 250, stored: 250 });
  expect(
    await fill(
      peer((count) => count),
      0,
    ),
  ).toMatchObject({ given: 0, stored: 0 });
});

test("of our own rows those are stored that have an id, each once", () => {
  const told = { tier: "eden", expires_at: "2030-01-01T00:00:00.000Z", redactions: [] } as const;
  const row = (id: string, duplicate = false) => ({ ok: true, id, duplicate, ...told }) as const;
  const refused = { ok: false, error: { code: "conflict", message: "…" } } as const;
  const memories = ["a", "b", "c", "d"].map((key) => ({ key, text: key }));
  const keys = new Map<string, string>();
  noteKeys(keys, memories, [row("1"), refused, row("3"), row("3", true)]);
  expect([...keys]).toEqual([
    ["1", "a"],
    ["3", "d"],
  ]);
});

test("every figure in which somebody is ahead is named, and nothing else", () => {
  const us = result("Butler, embedded", 10, true, 90);
  const quick = result("Quick", 6, false, 50);
  const slow = result("Slow", 30, true, 95);
  const gone: PeerResult = { ...result("Gone", 1), figures: null, reason: "not installed" };
  const lost = lostTo([us, quick, slow, gone], us.name);
  expect(lost).toEqual([
    "Butler, embedded, a search, p50: 10 ms; ahead of us: Quick 6 (nothing is kept).",
    "Butler, embedded, a search, p50: 2 × the model alone; ahead of us: Quick 1.2 (nothing is kept).",
    "Butler, embedded, a search, p95: 20 ms; ahead of us: Quick 12 (nothing is kept).",
    "Butler, embedded, a search, p95: 2 × the model alone; ahead of us: Quick 1.2 (nothing is kept).",
    "Butler, embedded, recall@10: 90 %; ahead of us: Slow 95.",
  ]);
  const machine = { cpu: "x", cores: 2, node: "20", load: 1 };
  const peers = [us, quick, slow, gone];
  const of = { n: 200, questions: 11, data: null, machine, model: "m" };
  const said = peerLines({ ...of, peers, standings: standings(peers, us.name), lost }).join("\n");
  expect(said).toContain("Slow: was given 100 of 200 memories: filling was ended for its time");
  expect(said).toContain("Slow: holds 97 of the 100 memories that it was given");
  expect(said).toContain("Slow: was asked 10 of 11 questions: searching was ended for its time");
  expect(said).toContain("Gone: not measured: not installed");
  expect(said).toContain("Where we lose:");
  expect(lostTo([us], us.name)).toEqual([]);
});

test("ahead of a peer is said for each figure, of those that keep what they store, and the last line names the others", () => {
  const us = result("Butler, embedded", 10, true, 90);
  const served = { ...result("Butler, PostgreSQL", 40, true, 90), needsServer: true };
  const slow = { ...result("Slow", 30, true, 95), needsServer: true };
  const peers = [us, served, slow, result("Quick", 6, false, 50), result("Near", 11, true, 80)];
  const [first, second] = standings(peers, us.name);
  expect([first?.peer, first?.compared.map(({ what, ahead }) => [what, ahead])]).toEqual([
    "Slow",
    [
      ["p50", true],
      ["p95", true],
      ["at once", false],
      ["recall", false],
    ],
  ]);
  expect(second?.peer).toBe("Near");
  // On a server we are held against what is on a server.
  expect(standings(peers, served.name).map(({ peer }) => peer)).toEqual(["Slow"]);
  const lines = standingLines([...standings(peers, us.name), ...standings(peers, served.name)]);
  expect(lines[1]).toContain("ahead of Near: p50 yes (10 to 11 ms, 2 to 2.2 × the model alone); ");
  expect(lines[2]).toBe(
    "Butler, embedded, ahead of every peer that keeps what it stores: no: at once of Slow, recall of Slow, at once of Near",
  );
  // Fewer milliseconds, but more in proportion to the model of its own process.
  const busy = { ...slow, figures: slow.figures && { ...slow.figures, times_floor: { p50: 1, p95: 1 } } };
  expect(standings([us, busy], us.name)[0]?.compared[0]).toEqual({
    what: "p50",
    ahead: null,
    figures: "10 to 30 ms, 2 to 1 × the model alone",
  });
});

test("a text is embedded once for all stores, and what is asked at the same time waits for one pass", async () => {
  const folder = mkdtempSync(join(tmpdir(), "bp-"));
  const asked: string[] = [];
  const version = { model: "m", variant: "int8", dimensions: 1, sha256: "0123456789abcdef" } as const;
  const embed = async (text: string) => {
    asked.push(text);
    const tokens = { pieces: 1, bits: Uint8Array.of(text.length), words: [text], ranks: [1] };
    return { vector: Float32Array.of(text.length), tokens };
  };
  const embedder: Embedder = { version, embed, close: async () => undefined };
  try {
    const first = await knownVectors(embedder, folder);
    const [one, same] = await Promise.all([first.embedder.embed("abc", "write"), first.embedder.embed("abc", "write")]);
    expect([one, asked]).toEqual([same, ["abc"]]);
    one.vector[0] = 0;
    expect((await first.embedder.embed("abc", "query")).vector).toEqual(Float32Array.of(3));
    await first.save();
    const second = await knownVectors(embedder, folder);
    expect(await second.embedder.embed("abc", "write")).toEqual(same);
    await second.embedder.embed("de", "write");
    expect([asked, second.counts]).toEqual([["abc", "de"], { known: 1, asked: 1 }]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("vectors are served as hosted ones are, as numbers and as base64", async () => {
  const vector = Float32Array.from([0.5, -0.25]);
  const version = { model: "m", variant: "int8", dimensions: 2, sha256: "" } as const;
  const embedder = { version, embed: async () => ({ vector }), close: async () => undefined } as unknown as Embedder;
  const server = await serveEmbeddings(embedder);
  try {
    const ask = async (more: object) => {
      const body = JSON.stringify({ model: "m", input: ["a", "b"], ...more });
      const answer = await fetch(`${server.url}/embeddings`, { method: "POST", body });
      return ((await answer.json()) as { data: { embedding: unknown }[] }).data.map(({ embedding }) => embedding);
    };
    expect(await ask({})).toEqual([
      [0.5, -0.25],
      [0.5, -0.25],
    ]);
    const [bytes] = await ask({ encoding_format: "base64" });
    expect(new Float32Array(new Uint8Array(Buffer.from(String(bytes), "base64")).buffer)).toEqual(vector);
  } finally {
    await server.close();
  }
});

test("a peer whose packages are not there is named with what would fetch them", async () => {
  const folder = mkdtempSync(join(tmpdir(), "bp-"));
  const peer = { name: "Some one", packages: { "some-one": "1.2.3" } };
  try {
    expect(await missing(folder, peer)).toBe("not installed: some-one@1.2.3; --install fetches it");
    expect(await missing(folder, { name: "Ours", packages: {} })).toBeUndefined();
    expect(() => loaderOf(folder, peer)("some-one")).toThrow("some-one could not be loaded");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
