/**
 * The whole test run: static checks, build (unless what is built is of these very sources), then vitest on both stores, and at the end one line per lane. With arguments only
 * vitest is run, with them: `npm test -- --project pure`, `npm test -- test/flow/facts.test.ts`. What a project needs is then
 * started by its set-up (`vitest.config.ts`), the build among it.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { relative } from "node:path";
import { isBuilt } from "./build-stamp.mjs";

const chosen = process.argv.slice(2);
const report = ".cache/test/report.json";
mkdirSync(".cache/test", { recursive: true });
rmSync(report, { force: true });

const lanes = new Map();
const started = performance.now();

function run(command, args) {
  return spawnSync(command, args, { stdio: "inherit", shell: process.platform === "win32" }).status === 0;
}

function check(name, command, args) {
  const ok = run(command, args);
  lanes.set(`static: ${name}`, { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 });
  return ok;
}

if (chosen.length === 0) {
  check("biome", "npx", ["--no-install", "biome", "ci", "--colors=off"]);
  check("tsc", "npx", ["--no-install", "tsc", "--noEmit"]);
  check("tsc of the pages", "npx", ["--no-install", "tsc", "-p", "web"]);
  check("tsc of their tests", "npx", ["--no-install", "tsc", "-p", "test/browser"]);
  check("knip", "npx", ["--no-install", "knip"]);
  if (isBuilt()) lanes.set("static: build", { passed: 1, failed: 0, skipped: 0 });
  else if (!check("build", "npm", ["run", "--silent", "build"])) finish(false);
}

const green = run("npx", [
  "--no-install",
  "vitest",
  "run",
  "--reporter=default",
  "--reporter=json",
  `--outputFile=${report}`,
  ...chosen,
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
