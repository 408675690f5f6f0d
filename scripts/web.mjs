/** Builds the pages into `dist/web`, each file also packed, so that the daemon compresses nothing while it serves. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "vite";
import { at } from "./bundle.mjs";

await build({ configFile: at("web/vite.config.ts"), logLevel: "warn" });

const PACKED = /\.(html|js|css|svg)$/;
const folder = at("dist/web");
for (const name of readdirSync(folder, { recursive: true })) {
  if (!PACKED.test(name)) continue;
  const bytes = readFileSync(join(folder, name));
  writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }));
  writeFileSync(
    join(folder, `${name}.br`),
    brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
  );
}
