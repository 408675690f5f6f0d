/**
 * A home with two butlers, three tenants and somebody's memories in every corner of it. Each memory carries a word of its own,
 * so that one look at an answer tells whether it holds something foreign.
 */
import { request } from "node:http";
import type { MemoryType } from "../../../src/engine/domain/memory-types.ts";
import { butler, type Variables } from "../owner-processes.ts";

/** Tokens of two tenants; `default` is the tenant of whoever owns the home and comes over the socket. */
export const TENANTS = ["north", "south"] as const;
export type Tenant = (typeof TENANTS)[number] | "default";
export const PROJECT = "forge.example/acme/app";

/** What a token may be bound to: one butler or all of them, with an admin's rights or without, to look alone, to one scope alone; the last may look at other tenants. */
const ROLES: readonly (Omit<Attacker, "name" | "tenant" | "token"> & { readonly role: string })[] = [
  { role: "one-butler", butler: "ada", admin: false },
  { role: "every-butler", butler: "*", admin: false },
  { role: "one-butler-admin", butler: "ada", admin: true },
  { role: "every-butler-admin", butler: "*", admin: true },
  { role: "reader", butler: "ada", admin: false, readOnly: true },
  { role: "bound", butler: "ada", admin: false, scopes: ["ada"] },
  { role: "cross-tenant", butler: "*", admin: true, crossTenant: true },
];

export interface Attacker {
  readonly name: string;
  readonly tenant: Tenant;
  /** `*` speaks for every butler of its tenant. */
  readonly butler: string;
  readonly admin: boolean;
  readonly readOnly?: boolean;
  readonly scopes?: readonly string[];
  readonly crossTenant?: boolean;
  /** Undefined: an agent on the local socket. */
  readonly token: string | undefined;
}

export interface Planted {
  readonly tenant: Tenant;
  readonly place: string;
  readonly scope: string;
  readonly type: MemoryType;
  readonly id: string;
  readonly word: string;
  readonly key: string;
}

export interface World {
  readonly address: string;
  readonly socket: string;
  /** The butler's own store, and the one that is shared. */
  readonly places: readonly [own: string, shared: string];
  readonly attackers: readonly Attacker[];
  readonly planted: readonly Planted[];
  /** A transcript of this machine's user, with a word of its own. */
  readonly transcript: { readonly path: string; readonly word: string };
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

interface Sending {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Target = { readonly port: string } | { readonly socket: string };

export const overPort = ({ address }: Pick<World, "address">): Target => ({ port: address });
export const overSocket = ({ socket }: Pick<World, "socket">): Target => ({ socket });

/** One request, over the port or over the socket. */
export const send = (target: Target, { body, ...sending }: Sending & { readonly body?: unknown }): Promise<Answer> =>
  sendText(target, sending, body === undefined ? "" : JSON.stringify(body));

/** The same with a body that may be no JSON. */
export function sendText(target: Target, sending: Sending, text: string): Promise<Answer> {
  const { method = "POST", path } = sending;
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text), ...sending.headers };
  const place = "socket" in target ? { socketPath: target.socket } : addressOf(target.port);
  return new Promise((done, failed) => {
    const outgoing = request({ ...place, method, path, headers }, (incoming) => {
      let answer = "";
      incoming.setEncoding("utf8").on("data", (chunk: string) => {
        answer += chunk;
      });
      incoming.on("end", () => done({ status: incoming.statusCode ?? 0, text: answer }));
      incoming.on("error", failed);
    });
    outgoing.on("error", failed);
    // As bytes: Node would write the headers before a text in its encoding too.
    outgoing.end(Buffer.from(text));
  });
}

function addressOf(address: string) {
  const { hostname, port } = new URL(address);
  return { hostname, port };
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** The header by which a cross-tenant admin says whose memories it wants to see. */
export const lookingAt = (tenant: string | undefined): Record<string, string> =>
  tenant === undefined ? {} : { "x-butler-tenant": tenant };

/** Of both tenants: each kind of token, and one of a neighbour. */
export const wantedTokens = (): Omit<Attacker, "token">[] =>
  TENANTS.flatMap((tenant) => [
    ...ROLES.map(({ role, ...rights }) => ({ name: `${tenant}-${role}`, tenant, ...rights })),
    { name: `${tenant}-neighbour`, tenant, butler: "bob", admin: false },
  ]);

const flagsOf = ({ admin, readOnly, crossTenant, scopes = [] }: Omit<Attacker, "token">): string[] => [
  ...(crossTenant ? ["--role", "cross-tenant"] : admin ? ["--admin"] : []),
  ...(readOnly ? ["--reader"] : []),
  ...scopes.flatMap((scope) => ["--scope", scope]),
];

export async function makeTokens(home: string, variables: Variables): Promise<Attacker[]> {
  const made: Attacker[] = [];
  for (const one of wantedTokens()) {
    const args = ["token", "create", "--name", one.name, "--butler", one.butler, "--tenant", one.tenant];
    const { code, stdout, stderr } = await butler(home, [...args, ...flagsOf(one)], variables);
    if (code !== 0) throw new Error(stderr);
    made.push({ ...one, token: stdout.trim() });
  }
  return made;
}

interface Corner {
  readonly who: Attacker;
  readonly place: string;
  readonly scope: string;
  readonly project?: string;
}

/** A fact, a rule and an episode in each corner; `alone`: of tokens only. */
export async function plant(
  world: Pick<World, "address" | "socket" | "places">,
  tokens: readonly Attacker[],
  alone = false,
) {
  const [own, shared] = world.places;
  const tokenOf = (name: string) => tokens.find((one) => one.name === name) as Attacker;
  const host: Attacker = { name: "host", tenant: "default", butler: own, admin: false, token: undefined };
  const corners = [
    ...TENANTS.flatMap((tenant): Corner[] => [
      { who: tokenOf(`${tenant}-one-butler`), place: shared, scope: "ada" },
      { who: tokenOf(`${tenant}-one-butler`), place: shared, scope: `ada/${PROJECT}`, project: PROJECT },
      { who: tokenOf(`${tenant}-one-butler`), place: shared, scope: "global" },
      { who: tokenOf(`${tenant}-neighbour`), place: shared, scope: "bob" },
      { who: tokenOf(`${tenant}-neighbour`), place: shared, scope: `bob/${PROJECT}`, project: PROJECT },
      { who: tokenOf(`${tenant}-every-butler`), place: own, scope: own },
      { who: tokenOf(`${tenant}-every-butler`), place: own, scope: "global" },
    ]),
    { who: host, place: own, scope: own },
    { who: host, place: own, scope: "global" },
    { who: host, place: own, scope: `${own}/${PROJECT}`, project: PROJECT },
  ];
  const planted: Planted[] = [];
  for (const corner of corners.filter(({ who }) => !alone || who.token !== undefined))
    for (const type of ["fact", "rule", "episode"] as const) planted.push(await plantOne(world, corner, type, planted));
  return planted;
}

async function plantOne(
  world: Pick<World, "address" | "socket">,
  { who, place, scope, project }: Corner,
  type: MemoryType,
  before: readonly Planted[],
): Promise<Planted> {
  const word = `wq${String(before.length).padStart(3, "0")}zx`;
  const key = `key-${before.length}`;
  const common = { idempotency_key: key, request_context: { request_id: `request-${before.length}` } };
  const content = `The harbour gate code is violet thunder, says ${word}.`;
  const input = {
    fact: { ...common, subject: `gate ${before.length}`, predicate: "code", content, scope },
    rule: { ...common, content: `Always say ${word} at the harbour gate before violet thunder.`, scope },
    episode: { ...common, content, session_id: "evening" },
  }[type];
  const tool = `memory_store_${type}`;
  const answer =
    who.token === undefined
      ? await send(overSocket(world), {
          path: "/owner/call",
          body: { butler: place, agent: true, request: { tool, input, ...(project ? { project } : {}) } },
        })
      : await send(overPort(world), {
          path: `/api/butlers/${place}/tools/${tool}`,
          body: input,
          headers: { ...bearer(who.token), ...(project ? { "x-butler-project": project } : {}) },
        });
  const told = JSON.parse(answer.text) as { id?: string; answer?: { id?: string } };
  const id = told.id ?? told.answer?.id;
  if (id === undefined) throw new Error(`nothing was planted in ${scope}: ${answer.text}`);
  // An episode goes where its teller stands, whatever scope this corner is about.
  const stands = `${who.butler === "*" ? place : who.butler}${project === undefined ? "" : `/${project}`}`;
  return { tenant: who.tenant, place, scope: type === "episode" ? stands : scope, type, id, word, key };
}

/**
 * What may come back to a caller: its own tenant's, and without an admin's rights only from where it stands. `looksAt`: the tenant that it names
 * in a header, which a cross-tenant admin then sees, and no other.
 */
export function maySee(
  who: Attacker,
  project: string | undefined,
  one: Planted,
  looksAt: string | undefined = undefined,
): boolean {
  if (who.crossTenant === true && looksAt !== undefined) return one.tenant === looksAt;
  if (who.tenant !== one.tenant) return false;
  if (who.scopes !== undefined) return who.scopes.includes(one.scope);
  if (who.admin || who.butler === "*") return true;
  const steps = ["global", who.butler, ...(project === undefined ? [] : [`${who.butler}/${project}`])];
  return steps.includes(one.scope);
}
