/** Laws of reading: noise changes nothing, any place is a good place to go on, and no file is too large. */
import { execFile } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonOf } from "../../src/hosts/transcripts/lines.ts";
import { longLine } from "../../src/hosts/transcripts/long-line.ts";
import { type Exchange, TRANSCRIPT_AGENTS } from "../../src/hosts/transcripts/read.ts";
import { all, claude, codex, inFile, jsonl, type Row, read } from "./transcripts-material.ts";

const claudeRow: fc.Arbitrary<Row[]> = fc.constantFrom(
  ...[
    () => [claude.user("Rename the order service.")],
    () => [claude.user("no, use pnpm – not npm ✨")],
    () => [claude.user("<private>the client is Ada</private>")],
    () => [claude.user("Tell <private>Ada Byron</private> about it.")],
    () => [claude.user("go on")],
    () => [claude.user("<command-name>/cost</command-name>")],
    () => [claude.says("Renamed it.")],
    () => [claude.says("Ada Byron knows. <butler-memory>old news")],
    () => [claude.uses("t1", "Bash", { command: "npm test" })],
    () => [claude.uses("t2", "Edit", { file_path: "/home/dev/shop/a.ts" })],
    () => [claude.result("t1", "error: nope", { is_error: true })],
    () => [
      claude.uses("t3", "AskUserQuestion", {}),
      claude.result("t3", 'User has answered your questions: "Which?"="both".'),
    ],
    () => [{ type: "summary", summary: "user" }],
  ].map((make) => make()),
);
const codexRow: fc.Arbitrary<Row[]> = fc.constantFrom(
  ...[
    () => codex.asks("Rename the order service."),
    () => codex.asks("nein, das andere"),
    () => codex.asks("ok"),
    () => codex.says("Renamed it."),
    () => codex.runs("c1", ["bash", "-lc", "npm test"], "Exit code: 1\nOutput:\nerror: nope"),
    () => codex.runs("c2", "make", "Exit code: 0\nOutput:\n"),
    () => [codex.item(codex.message("user", "<environment_context></environment_context>"))],
    () => [codex.line("turn_context", { cwd: "/elsewhere", model: "m" })],
  ].map((make) => make()),
);
const scripts = {
  "claude-code": fc.array(claudeRow, { maxLength: 24 }).map((rows) => rows.flat()),
  codex: fc.array(codexRow, { maxLength: 16 }).map((rows) => [codex.meta(), ...rows.flat()]),
};

/** Without what a place in the file says. */
const gist = (found: readonly Exchange[]) => found.map(({ content, at, tags }) => ({ content, at, tags }));

describe.each(TRANSCRIPT_AGENTS)("reading %s", (agent) => {
  it("is not changed by any bytes on lines of their own", async () => {
    const noise = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes.filter((byte) => byte !== 0x0a)));
    await fc.assert(
      fc.asyncProperty(scripts[agent], fc.array(fc.tuple(fc.nat(), noise), { maxLength: 6 }), async (rows, added) => {
        const lines = rows.map((row) => Buffer.from(JSON.stringify(row)));
        const before = await read(agent, Buffer.concat(lines.map((line) => Buffer.concat([line, Buffer.from("\n")]))));
        for (const [at, bytes] of added) lines.splice(at % (lines.length + 1), 0, bytes);
        const after = await read(agent, Buffer.concat(lines.map((line) => Buffer.concat([line, Buffer.from("\n")]))));
        expect(gist(after)).toEqual(gist(before));
      }),
      { numRuns: 60 },
    );
  });

  it("goes on from any exchange as if it had never stopped", async () => {
    await fc.assert(
      fc.asyncProperty(scripts[agent], fc.boolean(), async (rows, final) => {
        await inFile(jsonl(rows), async (path) => {
          const found = await all(agent, path, { final });
          for (const [at, { next }] of found.entries())
            expect(await all(agent, path, { from: next, final })).toEqual(found.slice(at + 1));
        });
      }),
      { numRuns: 60 },
    );
  });

  it("of a file that is still being written gives the beginning of what the whole gives", async () => {
    await fc.assert(
      fc.asyncProperty(scripts[agent], fc.double({ min: 0, max: 1, noNaN: true }), async (rows, share) => {
        const bytes = Buffer.from(jsonl(rows));
        const whole = await read(agent, bytes);
        const part = await read(agent, bytes.subarray(0, Math.floor(bytes.length * share)), { final: false });
        expect(part).toEqual(whole.slice(0, part.length));
      }),
      { numRuns: 60 },
    );
  });
});

describe("a line that is too long to hold", () => {
  it("loses the ends of its long strings and nothing else", () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary", maxLength: 30 }),
      fc.constantFrom("\\", '"', "\u0007", "é", "😀"),
    );
    const value = fc.tuple(piece, fc.constantFrom(1, 1, 1, 40_000), piece).map(([a, times, b]) => a.repeat(times) + b);
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ maxLength: 5 }), value, { maxKeys: 4 }),
        fc.integer({ min: 1, max: 70_000 }),
        (object, step) => {
          const whole = Buffer.from(JSON.stringify(object));
          const line = longLine();
          for (let at = 0; at < whole.length; at += step) line.add(whole.subarray(at, at + step));
          const kept = jsonOf((line.take() ?? Buffer.alloc(0)).toString("utf8")) as Record<string, string>;
          expect(Object.keys(kept)).toEqual(Object.keys(object));
          for (const [key, text] of Object.entries(object)) {
            if (JSON.stringify(text).length < 20_000) expect(kept[key]).toBe(text);
            // The last character may have been cut in two.
            else expect(text.startsWith((kept[key] ?? "").slice(0, 10_000))).toBe(true);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe("a transcript of 200 MB", () => {
  const run = promisify(execFile);
  const READER = fileURLToPath(new URL("./transcripts-reader.ts", import.meta.url));

  it("is read with a heap of 64 MB, whatever its lines hold", async () => {
    const folder = mkdtempSync(join(tmpdir(), "transcript-"));
    try {
      const path = join(folder, "large.jsonl");
      const file = openSync(path, "w");
      const put = (...rows: Row[]) => writeSync(file, jsonl(rows));
      /** A row with a string of so many megabytes where it says HERE. */
      const putLarge = (row: Row, megabytes: number, filling: string) => {
        const [head = "", tail = ""] = JSON.stringify(row).split("HERE");
        const block = Buffer.from(filling.repeat(Math.ceil((1024 * 1024) / filling.length)));
        writeSync(file, head);
        for (let n = 0; n < megabytes; n++) writeSync(file, block);
        writeSync(file, `${tail}\n`);
      };
      put(claude.user("Run the long job."), claude.uses("t1", "Bash", { command: "npm run long" }));
      putLarge(claude.result("t1", "HERE"), 100, "line of output\\n");
      put(claude.says("It ran."));
      putLarge(
        claude.user([
          { type: "image", source: { type: "base64", data: "HERE" } },
          { type: "text", text: "What is on this picture?" },
        ]),
        12,
        "iVBORw0KGgo",
      );
      put(claude.says("A house."), claude.user("Once more."), claude.uses("t2", "Bash", { command: "make" }));
      putLarge(claude.result("t2", "error: HERE", { is_error: true }), 8, "x");
      // Not one long string but very many: nothing can be kept of such a line.
      putLarge(claude.result("t3", "ok", {}, { toolUseResult: { lines: ["HERE"] } }), 40, 'ab","cd');
      writeSync(file, Buffer.alloc(40 * 1024 * 1024, "not a line break "));
      put({});
      put(claude.says("It failed."), claude.user("Leave it."), claude.says("Left it."));
      closeSync(file);
      const { stdout } = await run(process.execPath, [
        "--max-old-space-size=64",
        "--import",
        "tsx",
        READER,
        "claude-code",
        path,
      ]);
      expect((JSON.parse(stdout) as Exchange[]).map(({ content }) => content)).toEqual([
        "User: Run the long job.\nAgent: It ran.\nDid: ran npm run long",
        "User: What is on this picture?\nAgent: A house.",
        expect.stringMatching(/^User: Once more\.\nAgent: It failed\.\nFailed: Bash \(ran make\): error: x+…$/),
        "User: Leave it.\nAgent: Left it.",
      ]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
