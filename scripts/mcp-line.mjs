/**
 * After each build: `butler mcp` as one file, and the answers that it gives without a memory, recorded from the protocol's own library. Agents
 * wait for this process at their start.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { linesForShell } from "../dist/doors/mcp/stdio/known-answers.js";
import { recordAnswers } from "../dist/doors/mcp/stdio/record-answers.js";
import { tools } from "../dist/engine/tools/index.js";
import { version } from "../dist/main/version.js";
import { at, BUNDLE } from "./bundle.mjs";

const outfile = at("dist/main/commands/mcp-line.js");

const { metafile } = await build({
  entryPoints: [at("src/main/commands/mcp-line.ts")],
  outfile,
  allowOverwrite: true,
  ...BUNDLE,
  metafile: true,
});
rmSync(`${outfile}.map`, { force: true });
const foreign = Object.keys(metafile.inputs).filter((path) => path.includes("node_modules"));
if (foreign.length > 0)
  throw new Error(`the line of an agent must load no package, but it loads ${foreign.join(", ")}`);

const known = await recordAnswers({ tools, version });
writeFileSync(at("dist/main/commands/mcp-answers.json"), JSON.stringify(known));
// For plugins/mcp.sh, which reads no JSON.
const folder = at("dist/main/commands/mcp-answers");
rmSync(folder, { recursive: true, force: true });
for (const [name, line] of Object.entries(linesForShell(known))) {
  mkdirSync(join(folder, dirname(name)), { recursive: true });
  writeFileSync(join(folder, name), line);
}
