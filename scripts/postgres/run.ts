import { startServer } from "./server.ts";

// `npx tsx scripts/postgres/run.ts`: a scratch server for trying things by hand; Ctrl-C ends it and removes its data.
const server = await startServer();
process.stdout.write(`${server.url}\n`);
process.once("SIGINT", () => void server.stop());
process.once("SIGTERM", () => void server.stop());
