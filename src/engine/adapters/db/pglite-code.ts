/**
 * The code of PGlite's engine. The thread that opens the first store compiles it, while this one loads the rest of the program, and hands it
 * back: what is compiled stays with it for as long as somebody keeps it, and a store that is opened again needs a third of the CPU time.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { unavailable } from "../../domain/errors.ts";

/** A WebAssembly.Module. */
export type EngineCode = object;

/** Part of the language's own environment, like Math; its types come only with a browser's. */
declare const WebAssembly: { compile(bytes: Uint8Array): Promise<EngineCode> };

/** In the thread of a store. Functions are compiled when they are first called. */
export async function compileEngine(): Promise<EngineCode> {
  try {
    const folder = dirname(createRequire(import.meta.url).resolve("@electric-sql/pglite"));
    return await WebAssembly.compile(await readFile(join(folder, "pglite.wasm")));
  } catch (error) {
    throw unavailable("The files of the embedded store's engine cannot be read: install the package again.", error);
  }
}

let kept: EngineCode | undefined;

export const keptEngine = (): EngineCode | undefined => kept;

export function keepEngine(code: EngineCode): void {
  kept = code;
}
