/**
 * After each build: the owner and the commands as a few files in dist/owner, because somebody waits for their start: a command takes 0.33 s of CPU
 * time so, and 0.5 s from the files of the build. What it starts and reads (threads, the
 * empty store, tables of tokens) stays where it is: a bundled module knows its own place as before. Packages with files or native code of their own
 * are left out.
 */
import { rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { relative } from "node:path";
import { build } from "esbuild";
import { at, BUNDLE } from "./bundle.mjs";

const outdir = at("dist/owner");

const samePlace = {
  name: "same-place",
  setup({ onLoad }) {
    onLoad({ filter: /\/dist\/.*\.js$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      const place = JSON.stringify(`./${relative(outdir, path)}`);
      return { contents: text.replaceAll("import.meta.url", `new URL(${place}, import.meta.url).href`) };
    });
  },
};

rmSync(outdir, { recursive: true, force: true });
await build({
  entryPoints: [at("dist/main/program/own-program.js"), at("dist/main/program/program.js")],
  outdir,
  splitting: true,
  chunkNames: "[name]-[hash]",
  ...BUNDLE,
  plugins: [samePlace],
  external: [
    "@ai-sdk/*",
    "@electric-sql/*",
    "@huggingface/tokenizers",
    "@modelcontextprotocol/*",
    "ai",
    "gpt-tokenizer/*",
    // Its own modules are found by a call that no bundler follows.
    "jsonc-parser",
    "onnxruntime-node",
    "pg",
    "pino",
    "prom-client",
  ],
});
