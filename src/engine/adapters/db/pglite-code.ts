/**
 * The code of PGlite's engine, compiled in this thread and handed to the threads that run it. Its functions are compiled when they
 * are first called, and what is compiled stays with this module: a store that is opened again needs a third of the CPU time.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { unavailable } from "../../domain/errors.ts";

/** A WebAssembly.Module. */
export type EngineCode = object;

/** Part of the language's own environment, like Math; its types come only with a browser's. */
declare const WebAssembly: { compile(bytes: Uint8Array): Promise<EngineCode> };

let compiled: Promise<EngineCode> | undefined;

export function engineCode(): Promise<EngineCode> {
  compiled ??= compile().catch((error: unknown) => {
    compiled = undefined;
    throw unavailable("The files of the embedded store's engine cannot be read: install the package again.", error);
  });
  return compiled;
}

async function compile(): Promise<EngineCode> {
  const folder = dirname(createRequire(import.meta.url).resolve("@electric-sql/pglite"));
  return WebAssembly.compile(await readFile(join(folder, "pglite.wasm")));
}
