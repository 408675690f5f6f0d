/** Stands in for the module of the same functions wherever `src` imports it (`vitest.config.ts`): the threads of stores and models start compiled code. */
import * as workers from "../../src/engine/adapters/threads/worker.ts";
import { compiledUrl } from "./compiled.ts";

export const startWorker: typeof workers.startWorker = (callerUrl, ...more) =>
  workers.startWorker(compiledUrl(callerUrl), ...more);

export const startProcess: typeof workers.startProcess = (callerUrl, ...more) =>
  workers.startProcess(compiledUrl(callerUrl), ...more);
