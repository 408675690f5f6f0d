/** How an agent starts this very program again. Apart from `launch.ts`, because a session must not wait for what that loads. */
import { fileURLToPath } from "node:url";

export function ownEntry(): { readonly command: string; readonly args: readonly string[] } {
  const entry = fileURLToPath(import.meta.url).replace(/own-entry(\.[jt]s)$/, "butler$1");
  return { command: process.execPath, args: [...process.execArgv, entry] };
}
