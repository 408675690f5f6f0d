/** Reads a transcript in a process of its own and prints its exchanges: run with a small heap, it shows that reading stays small. */
import { type Exchange, readExchanges, type TranscriptAgent } from "../../src/hosts/transcripts/read.ts";

const [agent, path] = process.argv.slice(2) as [TranscriptAgent, string];
const found: Exchange[] = [];
for await (const exchange of readExchanges({ agent, path, final: true })) found.push(exchange);
process.stdout.write(JSON.stringify(found));
