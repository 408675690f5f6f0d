/** `butler export`, `butler undo` and `butler erase` as people run them, on a home that real hooks have filled. Needs `npm run build`. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { homeAt } from "../../src/daemon/home.ts";
import { noteSession } from "../../src/hosts/sessions/session-log.ts";
import { installHooks } from "../support/agent-hooks.ts";
import { butler, cleanUp, seededHome } from "../support/owner-processes.ts";
import { PATIENCE } from "../support/patience.ts";
import { transcript } from "../support/transcript.ts";

const outside = mkdtempSync(join(tmpdir(), "bt-"));
afterAll(async () => {
  await cleanUp();
  rmSync(outside, { recursive: true });
});

/** Files of the home in which one of the words stands. The project of the hooks' agent is not the memory's. */
function holding(home: string, words: readonly string[]): string[] {
  const needles = words.flatMap((word) => [word, word.toLowerCase()].map((one) => Buffer.from(one)));
  return readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => existsSync(file) && needles.some((needle) => readFileSync(file).includes(needle)));
}

const jsonOf = async (home: string, args: readonly string[]) => {
  const { code, stdout, stderr } = await butler(home, [...args, "--json"]);
  expect(code, `${args.join(" ")}: ${stderr}${stdout}`).toBe(0);
  return JSON.parse(stdout);
};

const WORDS = ["Zyxqualor", "Brimthwaite"];

test("a session that hooks have stored is exported, undone, undone again and erased without a trace in the home", async () => {
  const home = await seededHome();
  const hooks = await installHooks(home);
  const id = "5e55-10a1";
  const said = transcript(join(outside, `${id}.jsonl`), id, hooks.project);
  const common = { session_id: id, transcript_path: said.path };
  const prompt = "My sister Zyxqualor lives in Brimthwaite. From now on, always greet Zyxqualor first.";
  await hooks.fire("SessionStart", { ...common, source: "startup" });
  await hooks.fire("UserPromptSubmit", { ...common, prompt });
  said.user(prompt);
  said.agent("I will greet Zyxqualor.");
  await hooks.fire("Stop", common);
  await hooks.fire("SessionEnd", { ...common, reason: "other" });
  const stored = async () => (await butler(home, ["stats", "--scope", "*", "--json"])).stdout;
  await vi.waitFor(async () => expect(JSON.parse(await stored()).episodes.total).toBe(1), {
    ...PATIENCE,
    interval: 500,
  });
  await jsonOf(home, ["job", "run", "consolidate"]);
  await butler(home, ["remember", "Zyxqualor", "--fact", "boat", "owner", "--scope", "general"]);
  await butler(home, ["remember", "Cloudflare", "--fact", "dns", "host"]);
  await butler(home, ["context", "How is Zyxqualor?"]);
  // The log of `butler run`, and an exchange that could not be stored, as an owner leaves them.
  const began = { id, butler: "general", agent: "claude-code", kind: "run", folder: "/", memory: "used" } as const;
  noteSession(homeAt(home), { started: { ...began, prompt, at: "2026-03-01T12:00:00.000Z" } });
  const failed = join(homeAt(home).spool, "failed");
  mkdirSync(failed, { recursive: true });
  const row = { by: "local", butler: "general", row: { content: "Brimthwaite is far.", session_id: id } };
  writeFileSync(join(failed, "x.row.json"), JSON.stringify(row));
  await vi.waitFor(() => expect(holding(homeAt(home).openings, WORDS)).not.toEqual([]), PATIENCE);
  expect(holding(home, WORDS).some((file) => file.endsWith("sessions.jsonl"))).toBe(true);

  const known = await jsonOf(home, ["export", "--subject", "zyxqualor"]);
  expect(new Set(known.memories.map(({ type }: { type: string }) => type))).toEqual(
    new Set(["episode", "fact", "rule"]),
  );
  const read = await butler(home, ["export", "--subject", "Zyxqualor"]);
  expect(read.stdout).toMatch(/^What is known about Zyxqualor, on \d{4}-/);
  expect(read.stdout).toMatch(/boat · owner: Zyxqualor/);
  expect((await butler(home, ["export", "--subject", "Nobody"])).code).toBe(3);

  const dry = await butler(home, ["undo", "--session", id, "--dry-run"]);
  expect(dry.stdout).toMatch(/episode \w+: is taken back.*\n {2}fact [\s\S]*\n {2}rule \w+: is taken back/);
  const undone = await jsonOf(home, ["undo", "--session", id]);
  expect((await butler(home, ["search", "greet first", "--scope", "*"])).stdout).not.toContain("Zyxqualor first");
  const again = await butler(home, ["undo", "--request", undone.undo_id]);
  expect(again.stdout).toMatch(/To take this back: butler undo --request/);
  expect((await butler(home, ["search", "greet first", "--scope", "*"])).stdout).toContain("Zyxqualor");

  expect((await butler(home, ["erase", "--session", id])).code).toBe(1);
  expect((await butler(home, ["erase"])).code).toBe(2);
  const erased = await butler(home, ["erase", "--session", id, "--yes"]);
  expect(erased.stdout + erased.stderr).toMatch(/Erased\. The receipt is/);
  expect(erased.stdout).toMatch(/1 exchange.* 2 beginnings of a session/);
  const subject = await jsonOf(home, ["erase", "--subject", "Zyxqualor", "--yes"]);
  expect(subject.counts).toMatchObject({ facts: 1 });
  expect((await butler(home, ["search", "dns host"])).stdout).toContain("Cloudflare");
  const verified = await butler(home, ["replay", "--verify"]);
  expect(verified.stdout).toMatch(/every row is the same\. 2 receipts of erasures are whole\./);
  expect((await butler(home, ["doctor"])).stdout).toMatch(/receipts general +2 erasures, their receipts are whole/);
  expect(holding(home, WORDS)).toEqual([]);
  expect((await butler(home, ["stop"])).code).toBe(0);
  expect(holding(home, WORDS)).toEqual([]);
});
