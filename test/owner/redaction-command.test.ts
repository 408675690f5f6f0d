/** `butler audit redaction` as a person runs it: what it finds, what it asks, and both answers. Needs `npm run build`. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { homeAt } from "../../src/daemon/home.ts";
import { run } from "../../src/main/commands/audit.ts";
import { readEnvironment } from "../../src/main/environment.ts";
import { butler, cleanUp, seededHome, variablesFor } from "../support/owner-processes.ts";

afterAll(cleanUp);

const BADGE = "QX-774-219";

const audit = (home: string, ...args: string[]) => butler(home, ["audit", "redaction", ...args]);

/** With somebody at the terminal who answers this. */
async function asked(home: string, answer: string) {
  const [said, questions]: [string[], string[]] = [[], []];
  const code = await run(["redaction", "--redact"], {
    environment: readEnvironment(variablesFor(home, {})),
    say: (line) => said.push(line),
    note: (line) => said.push(line),
    ask: async (question) => {
      questions.push(question);
      return answer;
    },
  });
  return { code, said: said.join("\n"), questions };
}

/** Files of the embedded store in which the badge stands. */
const standing = (home: string): string[] =>
  readdirSync(homeAt(home).store("general"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(BADGE));

test("a pattern that came later finds what was stored before; no leaves it, yes takes it out and leaves a receipt", async () => {
  const home = await seededHome();
  await butler(home, ["remember", `My badge is ${BADGE}, it opens the harbour gate.`]);
  await butler(home, ["remember", "the harbour office", "--fact", `badge ${BADGE}`, "opens"]);
  expect((await audit(home)).stdout).toBe("No secrets were found in what is stored.\n");

  await butler(home, ["stop"]);
  const pattern = '[modules.memory.privacy]\npatterns = [{ name = "badge", pattern = "QX-[0-9]{3}-[0-9]{3}" }]\n';
  writeFileSync(homeAt(home).settingsFile, `[butler]\nname = "general"\n\n[modules.memory]\n\n${pattern}`);
  const found = await audit(home);
  expect(found.code, found.stderr).toBe(0);
  expect(found.stdout).toMatch(/^badge: .*in episodes.*in facts.*in the audit stream/m);
  expect(found.stdout).toMatch(
    /\d+ rows, 2 memories\. A secret counts wherever it stands\.\nNothing was changed: butler audit redaction --redact takes them out\.\n$/,
  );
  const json = JSON.parse((await audit(home, "--json")).stdout);
  expect(json).toMatchObject({ dry_run: true, receipt_id: null });
  expect(json.memories).toHaveLength(2);
  expect(json.found.map(({ kind }: { kind: string }) => kind)).toContain("badge");
  expect(found.stdout + JSON.stringify(json)).not.toContain(BADGE);

  // Nobody to ask, and somebody who says anything but the word.
  const alone = await audit(home, "--redact");
  expect(alone).toMatchObject({ code: 1, stderr: expect.stringContaining("give --yes where nobody can be asked") });
  for (const answer of ["no", "yes", ""]) {
    const refused = await asked(home, answer);
    expect(refused).toMatchObject({ code: 1, questions: [expect.stringContaining("Type redact to go on")] });
    expect(refused.said).toMatch(/Nothing was changed\.$/);
  }
  expect((await butler(home, ["search", "badge harbour gate"])).stdout).toContain(BADGE);
  expect(JSON.parse((await audit(home, "--json")).stdout)).toEqual(json);

  const done = await asked(home, "redact");
  expect(done.code).toBe(0);
  expect(done.said).toMatch(/Taken out\. The receipt is [0-9a-f-]{36}/);
  expect((await butler(home, ["search", "badge harbour gate"])).stdout).toContain("[redacted:badge]");
  expect((await audit(home)).stdout).toBe("No secrets were found in what is stored.\n");
  expect((await butler(home, ["replay", "--verify"])).stdout).toMatch(/every row is the same\. 1 receipt/);
  await butler(home, ["stop"]);
  expect(standing(home)).toEqual([]);

  // What comes afterwards is redacted at once: there is nothing to ask about.
  await butler(home, ["remember", `Another badge is ${BADGE}.`]);
  const clean = await audit(home, "--redact", "--yes", "--json");
  expect(JSON.parse(clean.stdout)).toMatchObject({ found: [], memories: [], receipt_id: null });
  expect((await butler(home, ["audit", "redactions"])).code).toBe(2);
});

test("--redact --yes --json answers with the receipt and no words", async () => {
  const home = await seededHome();
  await butler(home, ["remember", `My badge is ${BADGE}.`]);
  await butler(home, ["stop"]);
  const pattern = '[modules.memory.privacy]\npatterns = [{ name = "badge", pattern = "QX-[0-9]{3}-[0-9]{3}" }]\n';
  writeFileSync(homeAt(home).settingsFile, `[butler]\nname = "general"\n\n[modules.memory]\n\n${pattern}`);
  const { code, stdout } = await audit(home, "--redact", "--yes", "--json");
  expect(code).toBe(0);
  const answer = JSON.parse(stdout);
  expect(answer).toMatchObject({ dry_run: false, receipt_id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  expect(stdout).not.toContain(BADGE);
  expect((await butler(home, ["search", "badge"])).stdout).not.toContain(BADGE);
});
