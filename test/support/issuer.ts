/** An issuer of tokens on loopback: keys of its own, its key set over HTTP, and tokens of every kind, good and bad. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";

export const AUDIENCE = "https://memory.example.org";

export interface Issuer {
  readonly issuer: string;
  readonly jwksUrl: string;
  /** How often the keys were asked for. */
  asked(): number;
  /** Whether the keys are handed out. */
  answer(up: boolean): void;
  /** Signs with a new key from now on; the old one is not published any more. */
  turnKey(): Promise<void>;
  /** A good token; `claims` and `header` replace what a good one has. */
  token(
    claims?: Readonly<Record<string, unknown>>,
    header?: { readonly alg?: string; readonly kid?: string },
  ): Promise<string>;
  publicKey(): Promise<JWK>;
  stop(): Promise<void>;
}

export async function startIssuer(now: () => Date = () => new Date()): Promise<Issuer> {
  let count = 0;
  let up = true;
  let turn = 0;
  let pair: { privateKey: CryptoKey; publicKey: CryptoKey } = await generateKeyPair("ES256");
  const published = async () => ({ ...(await exportJWK(pair.publicKey)), kid: `k${turn}`, alg: "ES256", use: "sig" });
  // It never hangs up on an idle client: on a busy machine that would meet the client's next request, which then fails.
  const server = createServer({ keepAliveTimeout: 0 }, async (request, response) => {
    if (request.url !== "/keys") return void response.writeHead(404).end();
    count++;
    if (!up) return void response.writeHead(500).end();
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ keys: [await published()] }));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    jwksUrl: `${issuer}/keys`,
    asked: () => count,
    answer: (does) => {
      up = does;
    },
    async turnKey() {
      pair = await generateKeyPair("ES256");
      turn++;
    },
    token(claims = {}, header = {}) {
      const seconds = Math.floor(now().getTime() / 1_000);
      const good = { iss: issuer, aud: AUDIENCE, sub: "agent-7", iat: seconds, exp: seconds + 600 };
      const rights = { tenant: "acme", butler: "general", butler_role: "writer" };
      return new SignJWT({ ...good, ...rights, ...claims } as JWTPayload)
        .setProtectedHeader({ alg: "ES256", kid: `k${turn}`, ...header })
        .sign(pair.privateKey);
    },
    publicKey: () => exportJWK(pair.publicKey),
    stop: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}
