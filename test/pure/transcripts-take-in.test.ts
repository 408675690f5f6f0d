/** Taking in many transcripts: once each, in small batches, whatever lies among them. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Outcome } from "../../src/engine/tools/outcome.ts";
import { usualRoots } from "../../src/hosts/transcripts/find.ts";
import {
  ImportFailure,
  type ImportOptions,
  importTranscripts,
} from "../../src/hosts/transcripts/import-transcripts.ts";
import { survey } from "../../src/hosts/transcripts/survey.ts";
import { claude, codex, jsonl } from "./transcripts-material.ts";

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "agents-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const put = (path: string, content: string, changed = "2026-05-02T00:00:00Z") => {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  utimesSync(file, new Date(changed), new Date(changed));
};
const asked = (...prompts: readonly string[]) =>
  jsonl(prompts.flatMap((prompt) => [claude.user(prompt), claude.says("Done.")]));
const roots = () => usualRoots({ claude: home, codex: join(home, "codex") });

interface Call {
  readonly rows: readonly Record<string, unknown>[];
  readonly project: string | undefined;
  readonly session: string;
}

/** Remembers keys as the memory does. */
function shelf() {
  const calls: Call[] = [];
  const known = new Map<string, string>();
  const store: ImportOptions["store"] = async (rows, of) => {
    calls.push({ rows: [...rows], ...of });
    const results = rows.map(({ idempotency_key, content }) => {
      const before = known.get(idempotency_key as string);
      known.set(idempotency_key as string, before ?? (content as string));
      if (before !== undefined && before !== content)
        return { ok: false, error: { code: "conflict", message: "other" } };
      return { ok: true, duplicate: before !== undefined };
    });
    return { ok: true, answer: { results } };
  };
  return { calls, known, store };
}

const options = (more: Partial<ImportOptions> & Pick<ImportOptions, "store">): ImportOptions => ({
  ...{ roots: roots(), since: undefined, signal: new AbortController().signal, project: (folder) => folder },
  ...more,
});

it("takes each exchange in once, and says what it did with every file", async () => {
  put("projects/-shop/a.jsonl", asked("Rename it.", "Test it."));
  put("projects/-shop/empty.jsonl", "");
  put("projects/-shop/noise.jsonl", "\0\0 no transcript\n{}\n");
  put("projects/-shop/quiet.jsonl", jsonl([claude.user("Hello?")]));
  put("projects/-shop/a/subagents/agent-1.jsonl", asked("Left out."));
  put("projects/-shop/notes.txt", asked("Left out."));
  put(
    "codex/sessions/2026/05/01/rollout-1.jsonl",
    jsonl([codex.meta(), ...codex.asks("Ship it."), ...codex.says("Shipped.")]),
  );
  symlinkSync(join(home, "nowhere.jsonl"), join(home, "projects/-shop/broken.jsonl"));
  const { calls, store } = shelf();
  const report = await importTranscripts(options({ store }));
  expect(report).toMatchObject({ files: 2, stored: 3, already: 0, refused: 0, skipped: 4, complete: true });
  expect(report.problems.map(({ problem }) => problem)).toEqual([
    expect.stringContaining("cannot be read: ENOENT"),
    "is empty",
    "is no transcript of claude-code",
    "holds no exchange",
  ]);
  expect(calls.map(({ rows, project, session }) => [rows.length, project, session])).toEqual([
    [2, "/home/dev/shop", "5e551011-0000-4000-8000-000000000001"],
    [1, "/home/dev/shop", "0199aaaa-0000-7000-8000-000000000001"],
  ]);
  expect(await importTranscripts(options({ store }))).toMatchObject({ stored: 0, already: 3, complete: true });
});

it("follows no link that lies among them, and one that was named", async () => {
  put("projects/-shop/a.jsonl", asked("Rename it."));
  put("elsewhere/b.jsonl", asked("Tell nobody."));
  symlinkSync(join(home, "elsewhere/b.jsonl"), join(home, "projects/-shop/b.jsonl"));
  symlinkSync(join(home, "elsewhere"), join(home, "projects/-mine"));
  const { calls, store } = shelf();
  const report = await importTranscripts(options({ store }));
  expect(report).toMatchObject({ files: 1, stored: 1, skipped: 2 });
  expect(report.problems.map(({ problem }) => problem)).toEqual(Array(2).fill(expect.stringContaining("is a link")));
  symlinkSync(join(home, "elsewhere"), join(home, "chosen"));
  const named = options({ store, roots: [{ path: join(home, "chosen"), agent: undefined }] });
  expect(await importTranscripts(named)).toMatchObject({ files: 1, stored: 1, skipped: 0 });
  expect(calls).toHaveLength(2);
});

it("counts an exchange that has grown since as there already", async () => {
  const { store } = shelf();
  const rows = [claude.user("Rename it."), claude.says("On it.")];
  put("projects/-shop/a.jsonl", jsonl(rows));
  await importTranscripts(options({ store }));
  put("projects/-shop/a.jsonl", jsonl([...rows, claude.says("Done.")]));
  expect(await importTranscripts(options({ store }))).toMatchObject({ stored: 0, already: 1, refused: 0 });
});

it("stops when it is told to with whole batches stored, and goes on when it is run again", async () => {
  put("projects/-shop/a.jsonl", asked(...Array.from({ length: 120 }, (_, n) => `Do number ${n}.`)));
  put("projects/-shop/b.jsonl", asked("Another."));
  const { calls, known, store } = shelf();
  const stop = new AbortController();
  const stopping: ImportOptions["store"] = (rows, of) => {
    stop.abort();
    return store(rows, of);
  };
  expect(await importTranscripts(options({ store: stopping, signal: stop.signal }))).toMatchObject({
    complete: false,
    skipped: 0,
  });
  expect(known.size).toBeLessThan(121);
  expect(await importTranscripts(options({ store }))).toMatchObject({ complete: true, files: 2 });
  expect(known.size).toBe(121);
  expect(Math.max(...calls.map(({ rows }) => rows.length))).toBe(50);
});

it("gives up when the memory cannot take anything, and says how far it came", async () => {
  put("projects/-shop/a.jsonl", asked("Rename it."));
  const failure: Outcome = { ok: false, error: { code: "unavailable", message: "gone" } };
  const end = await importTranscripts(options({ store: async () => failure })).catch((error: unknown) => error);
  expect(end).toBeInstanceOf(ImportFailure);
  expect(end).toMatchObject({ failure: failure.error, sofar: { stored: 0, complete: false } });
});

it("leaves out what is older than asked for, by file and by exchange", async () => {
  put("projects/-shop/old.jsonl", asked("Long ago."), "2026-04-01T00:00:00Z");
  const [before, after] = [
    claude.user("Before.", { timestamp: "2026-04-20T00:00:00.000Z" }),
    claude.user("After.", { timestamp: "2026-05-01T12:00:00.000Z" }),
  ];
  put("projects/-shop/new.jsonl", jsonl([before, claude.says("Done."), after, claude.says("Done.")]));
  const { calls, store } = shelf();
  expect(await importTranscripts(options({ store, since: new Date("2026-05-01") }))).toMatchObject({
    files: 1,
    stored: 1,
    skipped: 0,
  });
  expect(calls[0]?.rows[0]?.content).toBe("User: After.\nAgent: Done.");
});

it("says beforehand what it would do, from a sample", async () => {
  for (let n = 0; n < 40; n++) put(`projects/-shop/${n}.jsonl`, asked("Rename it.", "Test it."));
  put("projects/-shop/noise.jsonl", "nothing");
  const plan = await survey({ roots: roots(), since: undefined, signal: new AbortController().signal });
  expect(plan).toMatchObject({ files: 40, sessions: 40, unfit: 1, last: "2026-05-02T00:00:00.000Z" });
  expect(plan.episodes).toBeGreaterThan(70);
  expect(plan.episodes).toBeLessThan(90);
  const later = { roots: roots(), since: new Date("2027-01-01"), signal: new AbortController().signal };
  expect(await survey(later)).toMatchObject({ files: 0, episodes: 0, first: null });
});
