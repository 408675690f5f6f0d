/** Routes about what stands around a memory: sessions of agents, settings, jobs, health. */
import { z } from "zod";
import { checkInput } from "../../../engine/tools/invalid-input.ts";
import type { Outcome } from "../../../engine/tools/outcome.ts";
import { Event } from "../../../engine/views/history/activity.ts";
import { Text } from "../../../engine/views/lists/texts.ts";
import type { SeenSession } from "../../backend.ts";
import { type ApiRoute, type Asked, MEMORY, refusal } from "./define.ts";
import { healthRoute, Jobs } from "./health-route.ts";

const PAGE = 50;
const none = z.strictObject({});

const Session = z.object({
  id: z.string(),
  key: z.string().optional(),
  session_id: z.string().describe("As episodes and events name it."),
  agent: z.string(),
  kind: z.string(),
  project: z.string().optional(),
  folder: z.string(),
  prompt: z.string().optional(),
  at: z.string(),
  ended_at: z.string().optional(),
  state: z.enum(["running", "done", "failed", "lost"]),
  memory: z.string().describe("used, empty, or why there was none."),
  episodes: z.number().optional(),
  duration_ms: z.number().optional(),
  cost_usd: z.number().optional(),
  told: z.array(z.object({ at: z.string(), tokens: z.number(), memories: z.number() })),
});

const SessionsQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(200).optional(),
  cursor: z.string().max(400).optional().describe("next_cursor of the page before."),
});
const Sessions = z.object({ sessions: z.array(Session), next_cursor: z.string().nullable() });

const OneSession = z.object({
  session: Session,
  told: z.array(
    z.object({ at: z.string(), tokens: z.number(), memories: z.array(Text.partial().required({ id: true })) }),
  ),
  stored: z.array(Event),
  learned: z.array(Event).describe("Each fact or rule once, as it was learned, in the state that it is in now."),
});

const Settings = z.object({
  values: z.array(z.object({ key: z.string(), value: z.unknown(), source: z.string(), differs: z.boolean() })),
});

const noHome = (): Outcome =>
  refusal("unavailable", "This server keeps memories only; sessions and jobs are elsewhere.");

const nameOf = (session: SeenSession): string => session.key ?? session.id;

const listed = ({ told, ...session }: SeenSession): z.input<typeof Session> => ({
  ...session,
  told: told.map(({ at, tokens, ids }) => ({ at, tokens, memories: ids.length })),
});

async function sessions({ backend, principal, params, given }: Asked): Promise<Outcome> {
  const query = checkInput(SessionsQuery, given);
  if (!query.ok) return refusal("invalid_input", query.error.message, query.error.field);
  if (!backend.home) return noHome();
  const found = await backend.home.sessions(principal, params.name ?? "");
  if (!found.ok) return found;
  const { limit = PAGE, cursor } = query.value;
  const all = found.answer.sessions;
  const from = cursor === undefined ? 0 : all.findIndex((one) => nameOf(one) === cursor) + 1;
  if (cursor !== undefined && from === 0)
    return refusal("invalid_input", "cursor must be a next_cursor of an earlier answer.", "cursor");
  const page = all.slice(from, from + limit);
  const last = from + limit < all.length ? page.at(-1) : undefined;
  return { ok: true, answer: { sessions: page.map(listed), next_cursor: last === undefined ? null : nameOf(last) } };
}

const LEARNED = /^(?:fact|rule)\.(?:stored|confirmed|began)$/;

async function session({ backend, principal, params, signal }: Asked): Promise<Outcome> {
  const { name = "", id } = params;
  if (!backend.home) return noHome();
  const found = await backend.home.sessions(principal, name);
  if (!found.ok) return found;
  const one = found.answer.sessions.find((known) => nameOf(known) === id || known.id === id || known.session_id === id);
  if (one === undefined) return refusal("not_found", `There is no session "${id}" in the log of this butler.`);
  const ids = [...new Set(one.told.flatMap((told) => told.ids))].filter((known) => z.uuid().safeParse(known).success);
  const scope = principal.admin ? { scope: "*" } : {};
  const [texts, events] = await Promise.all([
    backend.invoke(principal, name, { tool: "view_texts", input: { ids } }, { signal }),
    backend.invoke(
      principal,
      name,
      { tool: "memory_activity_stream", input: { session_id: one.session_id, changes: true, limit: 500, ...scope } },
      { signal },
    ),
  ]);
  if (!texts.ok) return texts;
  if (!events.ok) return events;
  const memories = new Map((texts.answer.memories as z.infer<typeof Text>[]).map((memory) => [memory.id, memory]));
  const own = (events.answer.events as z.infer<typeof Event>[]).filter((event) => isOf(one.session_id, event));
  const learned = own.filter(({ event_type }) => LEARNED.test(event_type));
  return {
    ok: true,
    answer: {
      session: listed(one),
      told: one.told.map(({ at, tokens, ids: list }) => ({
        at,
        tokens,
        memories: list.map((memory) => memories.get(memory) ?? { id: memory }),
      })),
      stored: own.filter(({ event_type }) => event_type === "episode.stored"),
      learned: learned.filter((event, at) => learned.findIndex((first) => first.entity_id === event.entity_id) === at),
    },
  };
}

/** What other sessions did to the same memories is not this one's. */
const isOf = (session: string, { sessions: from = [], session_id }: z.infer<typeof Event>): boolean =>
  session_id === session || from.includes(session);

export const homeRoutes: readonly ApiRoute[] = [
  {
    id: "Sessions",
    method: "GET",
    path: `${MEMORY}/sessions`,
    summary: "Sessions of agents, the newest first",
    input: SessionsQuery,
    answer: Sessions,
    run: sessions,
  },
  {
    id: "OneSession",
    method: "GET",
    path: `${MEMORY}/sessions/:id`,
    summary: "What a session was told, what was stored of it and what was learned from it",
    input: none,
    answer: OneSession,
    run: session,
  },
  {
    id: "Settings",
    method: "GET",
    path: `${MEMORY}/settings`,
    summary: "The settings in force, and where each came from",
    input: none,
    answer: Settings,
    run: async ({ backend, principal, params }) =>
      (await backend.home?.settings(principal, params.name ?? "")) ?? noHome(),
  },
  {
    id: "Jobs",
    method: "GET",
    path: `${MEMORY}/jobs`,
    summary: "The jobs: their last run and the next",
    input: none,
    answer: Jobs,
    run: async ({ backend, principal, params }) =>
      (await backend.home?.jobs(principal, params.name ?? "", { ask: "list" })) ?? noHome(),
  },
  healthRoute,
];

export type ApiSessions = z.infer<typeof Sessions>;
export type ApiOneSession = z.infer<typeof OneSession>;
export type ApiSettings = z.infer<typeof Settings>;
