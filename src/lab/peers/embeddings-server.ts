/** The shared model behind the interface that hosted embeddings have, on loopback: some programs take vectors from nowhere else. */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Embedder } from "../../engine/adapters/embedder/port.ts";
import { reasonOf } from "../../engine/domain/errors.ts";
import { vectorOf } from "./peer.ts";

interface Asked {
  readonly input: string | readonly string[];
  readonly encoding_format?: "float" | "base64";
}

export interface EmbeddingsServer {
  readonly url: string;
  close(): Promise<void>;
}

export async function serveEmbeddings(embedder: Embedder): Promise<EmbeddingsServer> {
  const server = createServer((request, response) => {
    answer(embedder, request).then(
      (body) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body)),
      (error: unknown) => response.writeHead(500).end(JSON.stringify({ error: { message: reasonOf(error) } })),
    );
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close() {
      server.closeAllConnections();
      return new Promise((done) => server.close(() => done()));
    },
  };
}

async function answer(embedder: Embedder, request: IncomingMessage): Promise<object> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk as string;
  const { input, encoding_format } = JSON.parse(text) as Asked;
  const texts = typeof input === "string" ? [input] : input;
  const vectors = await Promise.all(texts.map((one) => vectorOf(embedder, one, "query")));
  const data = vectors.map((vector, index) => ({
    object: "embedding",
    index,
    embedding:
      encoding_format === "base64" ? Buffer.from(Float32Array.from(vector).buffer).toString("base64") : [...vector],
  }));
  return { object: "list", model: embedder.version.model, data, usage: { prompt_tokens: 0, total_tokens: 0 } };
}
