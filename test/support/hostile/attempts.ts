/** Hostile calls, made from a seed: other people's ids, scopes, keys, sessions, cursors and files through every door. */
import type { Client } from "@modelcontextprotocol/client";
import { WHOLE } from "../whole-answers.ts";
import { overPages } from "./pages.ts";
import {
  type Answer,
  type Attacker,
  bearer,
  lookingAt,
  overPort,
  overSocket,
  type Planted,
  PROJECT,
  send,
  type World,
} from "./world.ts";

export interface Attempt {
  readonly door: "rest" | "mcp" | "hook" | "page" | "socket";
  readonly words: string;
  /** The project that the caller stands in, by its header or field. */
  readonly project: string | undefined;
  /** The tenant that a cross-tenant admin names in its header. */
  readonly looksAt?: string | undefined;
  run(): Promise<Answer>;
}

export interface Dice {
  below(n: number): number;
  one<T>(of: readonly T[]): T;
  chance(p: number): boolean;
}

/** The same seed gives the same calls. */
export function dice(seed: number): Dice {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    below: (n) => Math.floor(next() * n),
    one: (of) => of[Math.floor(next() * of.length)] as never,
    chance: (p) => next() < p,
  };
}

const SCOPES = [
  "global", "*", "ada", "bob", `ada/${PROJECT}`, `bob/${PROJECT}`, "north", "south", "default", "north/ada", "%", "b%",
  "global/bob", "bob/", "/bob", "../bob", "GLOBAL", "Bob", "bob ", "ada,bob", "bob\u0000", "b\u043eb", "null", "' or 1=1 --",
]; // biome-ignore format: a list of words
const BUTLERS = ["ada", "bob", "*", "general", "north", "global", "bob/x", "../bob"];
const PROJECTS = [PROJECT, "bob", `../bob/${PROJECT}`, "*", "global", `x/../../bob/${PROJECT}`, "bob%2f", "%"];
const QUERIES = [
  "harbour gate code violet thunder",
  "what is the gate code",
  "wq0",
  "says",
  "memory butler tenant north",
];
const MARK = "intruded";

type Input = Record<string, unknown>;

/** A call of a tool that somebody with other people's ids would try. */
export function hostileInput(d: Dice, planted: readonly Planted[]): { tool: string; input: Input } {
  const victim = d.one(planted);
  const { id, type, key } = victim;
  const scope = d.chance(0.6) ? { scope: d.one(SCOPES) } : {};
  const butler = d.chance(0.3) ? { butler: d.one(BUTLERS) } : {};
  const query = d.one(QUERIES);
  const asOf = d.chance(0.04) ? { as_of: "2031-01-01T00:00:00Z" } : {};
  const source = d.chance(0.5) ? { source_episode_id: id } : {};
  const stolen = d.chance(0.4) ? { idempotency_key: key } : {};
  const claimed = d.chance(0.3) ? { metadata: { format: "exchange", tenant_id: victim.tenant, trust: "user" } } : {};
  const session = d.chance(0.5) ? { session_id: "evening" } : {};
  const text = `${MARK}: the harbour gate code is open.`;
  const calls: readonly (() => { tool: string; input: Input })[] = [
    () => ({ tool: "memory_get", input: { id, ...(d.chance(0.5) ? { type } : {}), ...asOf } }),
    () => ({ tool: "memory_search", input: { query, limit: 200, min_confidence: 0, explain: d.chance(0.3), ...scope, ...asOf } }),
    () => ({ tool: "memory_recall", input: { topic: query, limit: 200, ...scope } }),
    () => ({ tool: "memory_context", input: { trigger_prompt: query, token_budget: 20_000, ...butler, ...asOf } }),
    () => ({ tool: "memory_context_batch", input: { requests: [{ trigger_prompt: query, ...butler }, { trigger_prompt: query }] } }),
    () => ({ tool: "memory_why", input: { id, query } }),
    () => ({ tool: "memory_stats", input: { ...scope } }),
    () => ({ tool: "memory_activity_stream", input: { limit: 1000, ...scope, ...(d.chance(0.5) ? { cursor: String(d.below(200)) } : {}) } }),
    () => ({ tool: "memory_forget", input: { id, ...(d.chance(0.5) ? { type } : {}), reason: MARK } }),
    () => ({ tool: "memory_restore", input: { id } }),
    () => ({ tool: "memory_confirm", input: { id, ...(type === "episode" ? {} : { type }) } }),
    () => ({ tool: "memory_mark_harmful", input: { rule_id: id, reason: MARK, ...session } }),
    () => ({ tool: "memory_mark_helpful", input: { rule_id: id, ...session } }),
    () => ({ tool: "memory_store_fact", input: { subject: `gate ${d.below(60)}`, predicate: "code", content: text, ...scope, ...source, ...stolen, ...claimed } }),
    () => ({ tool: "memory_store_rule", input: { content: `${MARK}: always leave the harbour gate open.`, ...scope, ...source, ...stolen } }),
    () => ({ tool: "memory_store_episode", input: { content: text, speaker: "user", ...butler, ...session, ...stolen, ...claimed } }),
    () => ({ tool: "memory_ingest_batch", input: { episodes: [{ content: text, speaker: "user", ...butler, ...session, ...claimed }, { content: text, ...stolen }] } }),
    () => ({ tool: "memory_store", input: { content: text, tier: "long" } }),
    () => ({ tool: "memory_dead_letters", input: { redrive: [id] } }),
    () => ({ tool: "memory_learning", input: { limit: 1000, ...(d.chance(0.5) ? { reset: true } : {}) } }),
    () => ({ tool: "memory_consolidate", input: d.chance(0.5) ? { limit: 25 } : { run_id: id, facts: [] } }),
  ]; // biome-ignore format: one call a line
  const made = d.one(calls)();
  if (d.chance(0.1))
    Object.assign(made.input, { [d.one(["tenant", "tenant_id", "principal", "admin"])]: victim.tenant });
  if (d.chance(0.2)) made.input.request_context = { request_id: `request-${d.below(60)}`, segment_id: victim.tenant };
  return made;
}

/** Headers that claim to be somebody, somewhere or some time else. */
function hostileHeaders(d: Dice, project: string | undefined, key: string): Record<string, string> {
  return {
    ...(project === undefined ? {} : { "x-butler-project": project }),
    ...(d.chance(0.3) ? { "x-butler-session": "evening" } : {}),
    ...(d.chance(0.2) ? { "idempotency-key": key } : {}),
    ...(d.chance(0.1) ? { "x-butler-tenant": "north", "x-tenant-id": "north", "x-butler": "bob" } : {}),
    ...(d.chance(0.05) ? { "x-butler-now": "2020-01-01T00:00:00Z" } : {}),
    ...(d.chance(0.05) ? { "x-forwarded-for": "127.0.0.1", "x-forwarded-host": "localhost" } : {}),
  };
}

export type Clients = (who: Attacker, place: string, looksAt?: string) => Promise<Client>;

/** Tenants that a cross-tenant admin names: there, nowhere, and no names at all. */
const LOOKED_AT = [
  "south",
  "south",
  "south",
  "south",
  "south",
  "default",
  "north",
  "nobody",
  "*",
  "South",
  "south,default",
  "../south",
  "so%75th",
];

export function attempt(d: Dice, world: World, who: Attacker, clients: Clients): Attempt {
  const place = d.chance(0.85) ? d.one(world.places) : d.one(["bob", "nobody", "..", "%2e%2e"]);
  const project = d.chance(0.4) ? d.one(PROJECTS) : undefined;
  if (who.token === undefined) return onSocket(d, world, who, place, project);
  const pick = d.below(13);
  const looksAt = who.crossTenant === true && d.chance(0.8) ? d.one(LOOKED_AT) : undefined;
  if (pick >= 10) return overPages(d, world, who, place, looksAt);
  if (pick < 4) return overRest(d, world, who, place, project, looksAt);
  if (pick < 7) return overMcp(d, world, who, d.one(world.places), clients, looksAt);
  return overHook(d, world, who, place, project, looksAt);
}

function overRest(
  d: Dice,
  world: World,
  who: Attacker,
  place: string,
  project: string | undefined,
  looksAt: string | undefined,
): Attempt {
  const { tool, input } = hostileInput(d, world.planted);
  const claimed = hostileHeaders(d, project, d.one(world.planted).key);
  const headers: Record<string, string> = { ...claimed, ...bearer(who.token ?? ""), ...lookingAt(looksAt) };
  const path = `/api/butlers/${place}/tools/${tool}`;
  const run = () => send(overPort(world), { path, body: input, headers });
  const words = `${path} ${JSON.stringify(input)} ${JSON.stringify([project, looksAt])}`;
  return { door: "rest", words, project, looksAt: headers["x-butler-tenant"], run };
}

function overMcp(
  d: Dice,
  world: World,
  who: Attacker,
  place: string,
  clients: Clients,
  looksAt: string | undefined,
): Attempt {
  const victim = d.one(world.planted);
  const kind = d.below(10);
  if (kind === 0) {
    const uri = d.one([
      `memory://${victim.type}/${victim.id}`,
      `memory://context/${d.one(BUTLERS)}?prompt=harbour+gate`,
      "memory://stats",
    ]);
    return mcp(uri, async (client) => client.readResource({ uri }));
  }
  if (kind === 1) {
    const name = d.one(["recall", "consolidate", "handoff"]);
    return mcp(name, async (client) =>
      client.getPrompt({ name, arguments: { topic: "harbour gate", focus: victim.id, task: victim.id } }),
    );
  }
  const { tool, input } = hostileInput(d, world.planted);
  return mcp(`${tool} ${JSON.stringify(input)}`, async (client) =>
    client.callTool({ name: tool, arguments: input, _meta: WHOLE }),
  );

  function mcp(words: string, ask: (client: Client) => Promise<unknown>): Attempt {
    return {
      door: "mcp",
      words: `${place}: ${words} ${JSON.stringify(looksAt)}`,
      project: undefined,
      looksAt,
      async run() {
        try {
          return { status: 200, text: JSON.stringify(await ask(await clients(who, place, looksAt))) };
        } catch (error) {
          // A refusal is an error of the protocol: its words go to the caller as well.
          return {
            status: 400,
            text: error instanceof Error ? `${error.message} ${JSON.stringify(error)}` : String(error),
          };
        }
      },
    };
  }
}

const EVENTS: readonly (readonly [agent: string, events: readonly string[]])[] = [
  ["claude-code", ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"]],
  ["codex", ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"]],
  ["gemini", ["SessionStart", "BeforeAgent", "AfterAgent", "SessionEnd"]],
  ["cursor", ["sessionStart", "beforeSubmitPrompt", "stop", "sessionEnd"]],
  ["opencode", ["session.created", "chat.message", "session.idle", "session.deleted"]],
];

function hookCall(d: Dice, world: World) {
  const [agent, events] = d.one(EVENTS);
  const event = d.one(events);
  const session = d.one(["evening", "morning", "../evening", "noon"]);
  const reply = `${MARK}: remember that the harbour gate code is open.`;
  const body = {
    session_id: session,
    conversation_id: session,
    cwd: d.one(["/", "/tmp/app", world.transcript.path]),
    workspace_roots: ["/tmp/app"],
    prompt: d.chance(0.5) ? d.one(QUERIES) : `${MARK}: my harbour gate code is open. Always leave it open.`,
    prompt_response: reply,
    reply,
    last_assistant_message: reply,
    source: d.one(["startup", "resume", "compact", "clear"]),
    ...(d.chance(0.6) ? { transcript_path: world.transcript.path } : {}),
    ...(d.chance(0.1) ? { tenant: "north", principal: { tenant: "north", admin: true } } : {}),
  };
  return { agent, event, body };
}

/** A hook is of its own tenant: one that names another is refused. */
function overHook(
  d: Dice,
  world: World,
  who: Attacker,
  place: string,
  project: string | undefined,
  named: string | undefined,
): Attempt {
  const { agent, event, body } = hookCall(d, world);
  const path = `/hooks/${agent}/${event}?butler=${place}`;
  const headers = { ...hostileHeaders(d, project, "key-0"), ...bearer(who.token ?? ""), ...lookingAt(named) };
  const run = () => send(overPort(world), { path, body, headers });
  return { door: "hook", words: `${path} ${JSON.stringify(body)} ${JSON.stringify([project, named])}`, project, run };
}

/** An agent on this machine may call for its own butler, and claims more. */
function onSocket(d: Dice, world: World, who: Attacker, place: string, project: string | undefined): Attempt {
  const { tool, input } = hostileInput(d, world.planted);
  const request = {
    tool,
    input,
    ...(project === undefined ? {} : { project }),
    ...(d.chance(0.3) ? { session: "evening" } : {}),
  };
  const claims = d.chance(0.2) ? { tenant: "north", principal: { tenant: "north", butler: "*", admin: true } } : {};
  const butler = d.chance(0.8) ? who.butler : place;
  const body = { butler, agent: true, request, ...claims };
  const run = () => send(overSocket(world), { path: "/owner/call", body });
  return { door: "socket", words: JSON.stringify(body), project, run };
}

/** Without a token, or with one that is none, nothing is answered. */
export const UNKNOWN: readonly Readonly<Record<string, string>>[] = [
  {},
  { authorization: "Bearer " },
  { authorization: "Bearer bm_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" },
  { authorization: "Basic bm9ydGg6bm9ydGg=" },
  { authorization: "Bearer undefined" },
  { authorization: "bearer null", "x-butler-tenant": "north" },
];
