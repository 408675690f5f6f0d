/** Hostile requests to the pages' API: every route that reads or changes memories, with other people's ids, scopes, cursors, sessions and times. */
import { apiRoutes } from "../../../src/doors/http/api/routes.ts";
import type { Attempt, Dice } from "./attempts.ts";
import { type Attacker, bearer, lookingAt, overPort, type Planted, PROJECT, send, type World } from "./world.ts";

/** Tokens of one's own may be made and revoked, and a job is run for the whole store: neither is about other people's memories. */
const LEFT_OUT = /\/(tokens|examples|jobs\/:job)/;
const ROUTES = apiRoutes.filter(({ method, path }) => method === "GET" || !LEFT_OUT.test(path));

const cursor = (...place: unknown[]) => Buffer.from(JSON.stringify(place)).toString("base64url");

function hostileValue(d: Dice, name: string, victim: Planted): unknown {
  const { id, tenant, scope, word, type } = victim;
  switch (name) {
    case "scope":
      return d.one([scope, "*", "global", "bob", tenant, `${tenant}/ada`, "%"]);
    case "project":
      return d.one([PROJECT, "bob", "*", `../bob/${PROJECT}`]);
    case "cursor":
      return d.one([
        cursor("2031-01-01T00:00:00Z", id),
        cursor("gate", "code", id),
        cursor(id),
        cursor({ ada: id }),
        "0",
        id,
      ]);
    case "as_of":
    case "from":
    case "to":
    case "since":
      return d.one(["2031-05-05T11:00:00Z", "2031-05-05T12:00:00Z", "2031-05-01"]);
    case "q":
    case "query":
    case "prompt":
      return d.one(["harbour gate code violet thunder", "says", word]);
    case "session":
      return d.one(["evening", "morning", id]);
    case "actor":
    case "source":
      return d.one([`token:${tenant}-one-butler`, `token:${tenant}-every-butler-admin`, "host"]);
    case "run":
    case "event":
    case "request":
      return d.one([id, "request-1", "fact.stored"]);
    case "ids":
      return [id];
    case "type":
      return type;
    case "types":
      return [type];
    case "dry_run":
    case "everything":
      return d.chance(0.5);
    case "limit":
      return d.one([1, 50, 200]);
    case "state":
      return d.one(["all", "retracted", "superseded", "active", "done"]);
    case "content":
    case "reason":
    case "note":
      return "intruded: the harbour gate code is open.";
    default:
      return undefined;
  }
}

const NEEDED = new Set(["q", "query", "prompt", "from", "content"]);

export function overPages(d: Dice, world: World, who: Attacker, place: string, looksAt: string | undefined): Attempt {
  const { method, path, input } = d.one(ROUTES);
  const victim = d.one(world.planted);
  const causes = ["request", "session", "run", "source", "event", "since"];
  const fields = Object.keys(input.shape).filter(
    (name) => NEEDED.has(name) || (!path.endsWith("/undo") && d.chance(0.4)) || name === "ids",
  );
  if (path.endsWith("/undo")) fields.push(d.one(causes), "dry_run");
  const given = Object.fromEntries(
    fields.flatMap((name) => {
      const value = hostileValue(d, name, victim);
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const at = path.replace(":name", place).replace(":id", d.chance(0.9) ? victim.id : "evening");
  const query = new URLSearchParams(
    Object.entries(given).map(([name, value]) => [name, String(value)] as [string, string]),
  );
  const whole = method === "GET" ? `${at}?${query}` : at;
  const headers = { ...bearer(who.token ?? ""), ...lookingAt(looksAt) };
  const project = typeof given.project === "string" ? given.project : undefined;
  return {
    door: "page",
    words: `${method} ${whole} ${method === "GET" ? "" : JSON.stringify(given)} ${JSON.stringify(looksAt)}`,
    project,
    looksAt,
    run: () => send(overPort(world), { method, path: whole, headers, ...(method === "GET" ? {} : { body: given }) }),
  };
}
