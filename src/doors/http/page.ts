/** The front page: what this is and how an agent is connected. Plain HTML, no scripts, nothing loaded from anywhere. */
import { createHash } from "node:crypto";
import { html, raw } from "hono/html";
import type { ButlerInfo } from "../backend.ts";

export interface FrontPage {
  readonly version: string;
  readonly origin: string;
  /** Those that the caller may use; undefined when they cannot be listed right now; `hidden` from callers without a token. */
  readonly butlers: readonly ButlerInfo[] | "hidden" | undefined;
  /** Undefined for callers without a token: a path names the user of the machine. */
  readonly tokenLocation: string | undefined;
}

const CSS = `
:root{color-scheme:light dark;--bg:#fbfaf7;--card:#fff;--ink:#23211d;--soft:#6b665c;--line:#e5e0d6;--brand:#8a4b2a;--code:#f3efe7}
@media (prefers-color-scheme:dark){:root{--bg:#171614;--card:#201e1b;--ink:#ece7de;--soft:#a29b8e;--line:#36322c;--brand:#e0a07a;--code:#2a2723}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.55 ui-sans-serif,system-ui,"Segoe UI",sans-serif}
main{max-width:46rem;margin:0 auto;padding:3.5rem 1.25rem 4rem}
h1{margin:0;font:600 2.1rem/1.15 ui-serif,Georgia,serif;letter-spacing:-.01em}
h2{margin:2.6rem 0 .8rem;font-size:.8rem;letter-spacing:.09em;text-transform:uppercase;color:var(--soft)}
p{margin:.6rem 0}.lead{font-size:1.1rem;color:var(--soft);max-width:36rem}
ul,ol{margin:0;padding:0;list-style:none}
.butlers{display:grid;gap:.75rem}
.butlers li,.note{background:var(--card);border:1px solid var(--line);border-radius:.7rem;padding:1rem 1.15rem}
.name{font-weight:600}
.role{margin-left:.5rem;padding:.05rem .5rem;border-radius:1rem;font-size:.75rem;color:var(--brand);border:1px solid currentColor}
.about{color:var(--soft);margin:.15rem 0 .6rem}
code,pre{font:13.5px/1.5 ui-monospace,SFMono-Regular,Menlo,monospace;background:var(--code);border-radius:.4rem}
code{padding:.12rem .38rem;overflow-wrap:anywhere}
pre{margin:.5rem 0 0;padding:.8rem 1rem;overflow-x:auto}pre code{padding:0;background:none;overflow-wrap:normal}
.ways{counter-reset:way;display:grid;gap:1.3rem}
.ways li{min-width:0;counter-increment:way;padding-left:2.4rem;position:relative}
.ways li::before{content:counter(way);position:absolute;left:0;top:.05rem;width:1.6rem;height:1.6rem;border-radius:50%;border:1px solid var(--line);color:var(--brand);font-size:.85rem;line-height:1.55rem;text-align:center}
footer{margin-top:3rem;padding-top:1rem;border-top:1px solid var(--line);color:var(--soft);font-size:.88rem}
a{color:var(--brand)}
`;

const cssHash = createHash("sha256").update(CSS).digest("base64");

export const PAGE_HEADERS: Record<string, string> = {
  "Content-Security-Policy": `default-src 'none'; style-src 'sha256-${cssHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "X-Frame-Options": "DENY",
  "Cross-Origin-Opener-Policy": "same-origin",
};

export function frontPage(page: FrontPage) {
  const { version, origin, butlers } = page;
  const first = butlers === "hidden" ? "<name>" : (butlers?.[0]?.name ?? "general");
  const address = (name: string) => `${origin}/butlers/${name === "<name>" ? name : encodeURIComponent(name)}/mcp`;
  const place = page.tokenLocation ?? "the file token of BUTLER_HOME";
  const args = JSON.stringify(["mcp", "--butler", first]).replaceAll(",", ", ");
  const stdio = `{ "mcpServers": { "memory": {\n  "command": "butler",\n  "args": ${args}\n} } }`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Butler Memory</title>
<style>${raw(CSS)}</style>
</head>
<body>
<main>
<h1>Butler Memory</h1>
<p class="lead">A memory for AI agents that learns, forgets and explains itself. It runs here; agents come in over MCP.</p>
<p>What it knows, what it learned today and how to correct it: <a href="/memory">the pages</a>. On this machine <code>butler open</code> opens them, signed in.</p>

<h2>Butlers</h2>
${
  butlers === "hidden"
    ? html`<p class="note">They are shown to those who hold a token. On this machine <code>butler doctor</code> lists them.</p>`
    : butlers === undefined
      ? html`<p class="note">The butlers cannot be listed right now. <code>butler doctor</code> says why.</p>`
      : butlers.length === 0
        ? html`<p class="note">There is no butler yet. Put one into the roster and start again.</p>`
        : html`<ul class="butlers">${butlers.map((butler) => card(butler, address(butler.name)))}</ul>`
}

<h2>Connect an agent</h2>
<ol class="ways">
<li>Claude Code, Codex, Cursor, Gemini CLI or opencode, with hooks, so that memory comes by itself (<code>butler uninstall</code> undoes it):
<pre><code>butler install claude-code --butler ${first}</code></pre></li>
<li>Any agent that starts its own servers, over stdio (no token needed):
<pre><code>${stdio}</code></pre></li>
<li>Any agent that speaks Streamable HTTP, with a token:
<pre><code>claude mcp add --transport http memory ${address(first)} \\
  --header "Authorization: Bearer $BUTLER_TOKEN"</code></pre></li>
</ol>

<h2>Token</h2>
<p>The first token is kept in <code>${place}</code>, readable by its owner alone. This page never shows one.
<code>butler token create</code> makes another, <code>butler token revoke</code> takes it back.</p>

<footer>Version ${version} · <a href="/healthz">health</a> · add <code>?tools=full</code> to an address to see every tool</footer>
</main>
</body>
</html>`;
}

function card(butler: ButlerInfo, address: string) {
  const role = butler.role === "memory" ? html`<span class="role">shared memory</span>` : "";
  return html`<li><span class="name">${butler.name}</span>${role}<p class="about">${butler.description}</p><code>${address}</code></li>`;
}
