/** A stdio MCP server over the fake host, for tests that need a real process. */
import { anyone, fakeHost, fakeTools } from "./fake-host.ts";
import { serveLocalLine } from "./thin-line.ts";

const host = fakeHost();
const door = await serveLocalLine({
  tools: fakeTools,
  toolset: process.argv.includes("full") ? "full" : "core",
  butler: "general",
  version: "1.2.3",
  call: (request) => host.invoke(anyone, "general", request),
  stdin: process.stdin,
  stdout: process.stdout,
  maxLineBytes: 100_000,
});
await door.closed;
process.stderr.write("door closed\n");
