/**
 * The whole test run: build (unless what is built is of these very sources), then vitest on both stores, with the static checks beside it, and at the end one line per lane. With
 * arguments only vitest is run, with them: `npm test -- --project pure`, `npm test -- test/flow/facts.test.ts`. What a project needs is then
 * started by its set-up (`vitest.config.ts`), the build among it.
 */
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { relative } from "node:path";
import { isBuilt } from "./build-stamp.mjs";

const chosen = process.argv.slice(2);
const report = ".cache/test/report.json";
mkdirSync(".cache/test", { recursive: true });
rmSync(report, { force: true });

const lanes = new Map();
const started = performance.now();

/** With `held` it says nothing before its end, so that its lines do not stand between those of another one. */
function run(command, args, held = false) {
  const stdio = held ? ["ignore", "pipe", "pipe"] : "inherit";
  const child = spawn(command, args, { stdio, shell: process.platform === "win32" });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (chunk) => {
      said += chunk;
    });
  return new Promise((done) => {
    child.once("error", (error) => done({ ok: false, said: error.message }));
    child.once("close", (code) => done({ ok: code === 0, said }));
  });
}

async function check(name, command, args, held) {
  const { ok, said } = await run(command, args, held);
  if (!ok) process.stdout.write(`\nstatic: ${name} failed\n${said}\n`);
  lanes.set(`static: ${name}`, { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 });
  return ok;
}

const CHECKS = {
  biome: ["biome", "ci", "--colors=off"],
  tsc: ["tsc", "--noEmit"],
  "tsc of the pages": ["tsc", "-p", "web"],
  "tsc of their tests": ["tsc", "-p", "test/browser"],
  knip: ["knip"],
};

/** Beside the first minute of vitest, in which programs are fetched and the cores have little to do. */
async function checkSources() {
  for (const [name, args] of Object.entries(CHECKS)) await check(name, "npx", ["--no-install", ...args], true);
}

if (chosen.length === 0) {
  if (isBuilt()) lanes.set("static: build", { passed: 1, failed: 0, skipped: 0 });
  else if (!(await check("build", "npm", ["run", "--silent", "build"]))) finish(false);
}

const vitest = ["vitest", "run", "--reporter=default", "--reporter=json", `--outputFile=${report}`, ...chosen];
const [{ ok: green }] = await Promise.all([
  run("npx", ["--no-install", ...vitest]),
  chosen.length === 0 ? checkSources() : undefined,
]);
for (const file of JSON.parse(readFileSync(report, "utf8")).testResults) {
  const path = relative(process.cwd(), file.name).replaceAll("\\", "/");
  if (file.assertionResults.length === 0 && file.status === "failed") count(laneOf(path, ""), "failed");
  for (const test of file.assertionResults) count(laneOf(path, test.fullName), test.status);
}
finish(green);

/** Store lanes are told apart by the name that `onEachStore` and the contract suites give. */
function laneOf(path, name) {
  if (path.startsWith("test/pure/")) return "pure";
  if (path.includes("prometheus")) return "Prometheus";
  if (/PostgreSQL, pool of one|pool of one|max: 1/.test(name)) return "PostgreSQL with pgvector, pool of one";
  if (/PostgreSQL/.test(name) || path.includes("postgres")) return "PostgreSQL with pgvector";
  if (/PGlite/.test(name) || path.includes("pglite")) return "PGlite";
  return { doors: "doors", owner: "owner", faults: "faults", browser: "browser" }[path.split("/")[1]] ?? "adapters";
}

function count(lane, status) {
  const sums = lanes.get(lane) ?? { passed: 0, failed: 0, skipped: 0 };
  sums[status === "passed" || status === "failed" ? status : "skipped"] += 1;
  lanes.set(lane, sums);
}

function finish(ok) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  process.stdout.write("\nLanes\n");
  for (const [lane, sums] of [...lanes].sort(([a], [b]) => a.localeCompare(b))) {
    for (const key of Object.keys(total)) total[key] += sums[key];
    const mark = sums.failed > 0 ? "✗" : sums.skipped > 0 ? "!" : "✓";
    const skipped = sums.skipped > 0 ? `, ${sums.skipped} SKIPPED` : "";
    process.stdout.write(`  ${mark} ${lane.padEnd(40)} ${sums.passed} passed, ${sums.failed} failed${skipped}\n`);
  }
  process.stdout.write(`\nin ${Math.round((performance.now() - started) / 1000)} s\n`);
  process.stdout.write(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped\n`);
  process.exit(ok && total.failed === 0 ? 0 : 1);
}
