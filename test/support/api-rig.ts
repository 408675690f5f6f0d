/** The pages' API over a memory of one store: the real HTTP door, with a backend that calls the memory of a rig. */
import { z } from "zod";
import type { Backend, Principal } from "../../src/doors/backend.ts";
import { apiRoutes } from "../../src/doors/http/api/routes.ts";
import { loopbackHosts } from "../../src/doors/http/guards.ts";
import { type HttpOptions, httpApp } from "../../src/doors/http/http.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";
import { callTool } from "../../src/engine/tools/call.ts";
import { tools } from "../../src/engine/tools/index.ts";
import type { Rig } from "./stores.ts";

// biome-ignore lint/suspicious/noExplicitAny: answers are checked by the assertions of each test, field by field.
type Answer = Record<string, any>;

const admin: Principal = { name: "root", tenant: "default", butler: "*", admin: true, voice: "user" };

export const CALLERS: Readonly<Record<string, Principal>> = {
  root: admin,
  reader: { ...admin, name: "looker", readOnly: true },
  agent: { name: "agent", tenant: "default", butler: "general", admin: false, voice: "agent" },
  stranger: { ...admin, name: "stranger", tenant: "others" },
};

export function apiOver(rig: Rig, options: Partial<HttpOptions> = {}, overrides: Partial<Backend> = {}) {
  const backend: Backend = {
    butlers: async () => [{ name: "general", role: "butler", description: "" }],
    invoke: (principal, _, request, following) => callTool(rig.memory, principal, request, following),
    health: async () => ({ ok: true, version: "1", model: "", butlers: [{ name: "general", store: "open" }] }),
    ...overrides,
  };
  const app = httpApp({
    backend,
    tools,
    authenticate: async (token) => CALLERS[token],
    allowedHosts: loopbackHosts(4270),
    log: silentLog,
    version: "1.2.3",
    ...options,
  });
  const ask = async (method: string, path: string, { as = "root", body, headers = {} }: Asking = {}) => {
    const response = await app.request(path.startsWith("/") ? path : `/api/butlers/general/memory/${path}`, {
      method,
      headers: {
        host: "127.0.0.1:4270",
        ...(as === "" ? {} : { authorization: `Bearer ${as}` }),
        ...(method === "POST" ? { "content-type": "application/json" } : {}),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Answer };
  };
  return {
    app,
    ask,
    /** The answer, checked against the description; throws what the API refused with. */
    async get(path: string, asking?: Asking): Promise<Answer> {
      const { status, body } = await ask("GET", path, asking);
      if (status !== 200) throw new Error(`${path} → ${status} ${JSON.stringify(body)}`);
      described(path, "GET", body);
      return body;
    },
    async post(path: string, body: unknown = {}, asking: Asking = {}): Promise<Answer> {
      const answer = await ask("POST", path, { ...asking, body });
      if (answer.status !== 200) throw new Error(`${path} → ${answer.status} ${JSON.stringify(answer.body)}`);
      described(path, "POST", answer.body);
      return answer.body;
    },
    async refused(path: string, { method = "GET", ...asking }: Asking & { readonly method?: string } = {}) {
      const { status, body } = await ask(method, path, asking);
      if (status < 400) throw new Error(`${path} should have been refused: ${JSON.stringify(body)}`);
      return { status, ...(body.error as { code: string; message: string; field?: string }) };
    },
  };
}

interface Asking {
  /** A name of `CALLERS`; "" sends no token. */
  readonly as?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A real answer holds nothing that its definition does not name, and all that it promises. */
function described(path: string, method: string, body: unknown): void {
  const plain = path.replace(/\?.*/, "");
  const whole = plain.startsWith("/") ? plain : `/api/butlers/general/memory/${plain}`;
  const route = apiRoutes.find(
    (one) => one.method === method && new RegExp(`^${one.path.replace(/:\w+/g, "[^/]+")}$`).test(whole),
  );
  if (route === undefined) return;
  const schema = z.fromJSONSchema(z.toJSONSchema(route.answer, { unrepresentable: "any" }));
  schema.parse(body);
}
