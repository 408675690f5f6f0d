/** The files of the pages: one HTML file for every address, and what it loads. They hold no names and no memories. */
import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import type { Context, Hono } from "hono";
import { type DoorEnv, refuse } from "../guards.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
};

/** Scripts and styles of this origin and nothing inline; styles that a script sets on an element are no inline styles. */
const HEADERS = {
  "Content-Security-Policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "X-Frame-Options": "DENY",
  "Cross-Origin-Opener-Policy": "same-origin",
};

const PAGES = ["/signin", "/memory", "/memory/*", "/butlers/:name/memory", "/butlers/:name/memory/*"];
const BASE = "/memory/";

/** `folder` is undefined where a package was built without its pages. */
export function serveWebFiles(app: Hono<DoorEnv>, folder: string | undefined): void {
  let names: Promise<ReadonlySet<string>> | undefined;
  for (const path of PAGES)
    app.get(path, async (c) => {
      names ??= namesIn(folder);
      const known = await names;
      if (folder === undefined || !known.has("index.html")) return missing(c);
      const asked = c.req.path.startsWith(BASE) ? c.req.path.slice(BASE.length) : "";
      if (known.has(asked) && asked !== "index.html") return send(c, folder, known, asked);
      // A file that is not there is said so: the page in its place would be run as a script.
      if (asked.startsWith("assets/")) return refuse(c, { code: "not_found", message: "There is no such file." });
      return send(c, folder, known, "index.html");
    });
}

const missing = (c: Context<DoorEnv>) =>
  refuse(c, { code: "not_found", message: "This installation has no pages: npm run build makes them.", field: "path" });

/** Only what was found here is ever read: a path of a request is a name in this list, or nothing. */
async function namesIn(folder: string | undefined): Promise<ReadonlySet<string>> {
  if (folder === undefined) return new Set();
  try {
    return new Set((await readdir(folder, { recursive: true })).map((name) => name.replaceAll("\\", "/")));
  } catch {
    return new Set();
  }
}

async function send(c: Context<DoorEnv>, folder: string, known: ReadonlySet<string>, name: string): Promise<Response> {
  const accepted = c.req.header("accept-encoding") ?? "";
  const packed = ENCODINGS.find(({ encoding, ending }) => accepts(accepted, encoding) && known.has(`${name}${ending}`));
  const bytes = await readFile(join(folder, `${name}${packed?.ending ?? ""}`));
  return c.body(new Uint8Array(bytes), 200, {
    ...HEADERS,
    "Content-Type": TYPES[extname(name)] ?? "application/octet-stream",
    // The names of assets hold a hash of what is in them.
    "Cache-Control": name.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache",
    Vary: "Accept-Encoding",
    ...(packed === undefined ? {} : { "Content-Encoding": packed.encoding }),
  });
}

const ENCODINGS = [
  { encoding: "br", ending: ".br" },
  { encoding: "gzip", ending: ".gz" },
] as const;

const accepts = (header: string, encoding: string): boolean =>
  header.split(",").some((one) => {
    const [name = "", ...rest] = one.split(";").map((part) => part.trim());
    return name === encoding && !rest.some((part) => part.startsWith("q=") && Number(part.slice(2)) === 0);
  });
