/** Runs, the preview of a block, two days compared, sessions, and activity as it happens. */
import { expect, it, vi } from "vitest";
import type { HomeReads, SeenSession } from "../../../src/doors/backend.ts";
import { wrapDb } from "../../../src/engine/adapters/db/wrap.ts";
import { apiOver } from "../../support/api-rig.ts";
import { onEachStore } from "../../support/stores.ts";

const noTokens = async () => ({ ok: false, error: { code: "unavailable", message: "no tokens" } }) as const;

onEachStore("more reads of the pages", (open) => {
  it("a run shows its decisions beside the words that were used", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    await rig.call("memory_store_episode", {
      content: "I moved to Lisbon last week.",
      butler: "general",
      session_id: "s1",
    });
    await rig.call("memory_consolidate", {}).catch(() => undefined);
    const { runs, spend } = await api.get("runs");
    expect(spend).toMatchObject({ today_usd: 0 });
    for (const { id } of runs) {
      const one = await api.get(`runs/${id}`);
      expect(one.run.id).toBe(id);
      for (const decision of one.decisions) expect(Array.isArray(decision.words)).toBe(true);
      expect((await api.refused(`runs/${id}`, { as: "stranger" })).status).toBe(404);
    }
    expect((await api.get("runs", { as: "stranger" })).runs).toEqual([]);
    expect((await api.refused("runs/01990000-0000-7000-8000-000000000000")).status).toBe(404);
  });

  it("a preview is the block with its tokens by section, and what was left out and why", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    await rig.call("memory_store_fact", {
      subject: "user",
      predicate: "allergic_to",
      content: "peanuts",
      permanence: "permanent",
      importance: 9,
    });
    await rig.call("memory_store_fact", {
      subject: "tea",
      predicate: "kind",
      content: "green tea from Uji",
      confidence: 0.1,
    });
    await rig.call("memory_store_rule", { content: "Serve tea with a biscuit." });
    const preview = await api.post("preview", { prompt: "Which tea shall we serve?", token_budget: 500 });
    expect(preview.text).toContain("peanuts");
    const sum = preview.tokens_by_section.reduce((total: number, { tokens }: { tokens: number }) => total + tokens, 0);
    expect(sum).toBe(preview.tokens);
    expect(preview.left_out).toContainEqual(
      expect.objectContaining({ gate: "confidence", text: "green tea from Uji" }),
    );
    expect(preview.texts.length).toBeGreaterThan(0);
    expect((await api.refused("preview", { method: "POST", body: { prompt: "" } })).status).toBe(400);
  });

  it("a past day is searched however much has happened, as it was, and without what was erased since", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    const told = { subject: "s", predicate: "p" };
    const { id } = await rig.call("memory_store_fact", { ...told, content: "walnut" });
    rig.later(1);
    const as_of = "2026-03-01T13:00:00Z";
    // As many as a year of use counts up.
    await rig.db.query("update event_hours set n = 60000 where event_type = 'fact.stored'");
    const found = async () =>
      (await api.get(`search?q=walnut&as_of=${as_of}`)).results.map((one: { content: string }) => one.content);
    const preview = async () => (await api.post("preview", { prompt: "walnut", as_of })).text;
    expect([await found(), await preview()]).toEqual([["walnut"], expect.stringContaining("walnut")]);
    await rig.call("memory_store_fact", { ...told, content: "walnut and hazel" });
    expect(await found()).toEqual(["walnut"]);
    expect((await api.get(`search?q=walnut&type=rule&as_of=${as_of}`)).results).toEqual([]);
    await rig.call("control_erase", { id }, { as: { admin: true } });
    expect([await found(), await preview()]).toEqual([[], expect.not.stringContaining("walnut")]);
  });

  it("who looks at a list of a past day finds its events read when searching it", async () => {
    const rig = await open({ model: false });
    await rig.call("memory_store_fact", { subject: "s", predicate: "p", content: "walnut" });
    rig.later(1);
    let pages = 0;
    const db = wrapDb(rig.memory.db, (inner) => ({
      query(text, params) {
        if (text.includes("from memory_events where tenant_id = $1 and seq > $2")) pages += 1;
        return inner.query(text, params);
      },
    }));
    const memory: typeof rig.memory = Object.create(rig.memory, { db: { value: db } });
    const api = apiOver({ ...rig, memory });
    const as_of = "2026-03-01T13:00:00Z";
    for (const list of ["facts", "facts", "rules"]) await api.get(`${list}?as_of=${as_of}`);
    await vi.waitFor(() => expect(pages).toBe(1));
    expect((await api.get(`search?q=walnut&as_of=${as_of}`)).results).toHaveLength(1);
    expect(pages).toBe(2);
  });

  it("two moments are compared memory by memory", async () => {
    const rig = await open({ model: false });
    const api = apiOver(rig);
    const old = await rig.call("memory_store_fact", { subject: "dns", predicate: "provider", content: "Cloudflare" });
    rig.later(2);
    const now = await rig.call("memory_store_fact", { subject: "dns", predicate: "provider", content: "Route 53" });
    rig.later(2);
    const rule = await rig.call("memory_store_rule", { content: "A rule." });
    const { changes } = await api.get("changes?from=2026-03-02&to=2026-03-04");
    expect(changes).toHaveLength(2);
    expect(changes).toContainEqual(
      expect.objectContaining({
        id: old.id,
        before: expect.objectContaining({ state: "active" }),
        after: expect.objectContaining({ state: "superseded" }),
      }),
    );
    expect(changes).toContainEqual(
      expect.objectContaining({ id: now.id, before: null, after: expect.objectContaining({ state: "active" }) }),
    );
    const first = await api.get("changes?from=2026-02-01&limit=1");
    expect(first.changes).toMatchObject([{ id: rule.id, type: "rule" }]);
    const rest = await api.get(`changes?from=2026-02-01&limit=5&cursor=${first.next_cursor}`);
    expect(rest.changes.map(({ id }: { id: string }) => id).toSorted()).toEqual([old.id, now.id].toSorted());
    expect((await api.get("changes?from=2026-02-01", { as: "stranger" })).changes).toEqual([]);
    expect(await api.refused("changes?from=2026-03-04&to=2026-03-01")).toMatchObject({ status: 400, field: "from" });
  });

  it("a session tells what it was told, what was stored of it and what was learned", async () => {
    const rig = await open({ model: false });
    const fact = await rig.call("memory_store_fact", { subject: "dns", predicate: "provider", content: "Route 53" });
    const episode = await rig.call("memory_store_episode", {
      content: "Alice drinks tea.",
      butler: "general",
      session_id: "s1",
    });
    const learned = await rig.call("memory_store_fact", {
      subject: "alice",
      predicate: "drinks",
      content: "tea",
      source_episode_id: episode.id,
    });
    const told = [{ at: "2026-03-01T12:00:00Z", tokens: 40, ids: [fact.id, "01990000-0000-7000-8000-000000000000"] }];
    const session = {
      id: "s1",
      session_id: "s1",
      agent: "claude-code",
      kind: "hook",
      folder: "/x",
      at: "2026-03-01T12:00:00Z",
      state: "done",
      memory: "used",
      told,
    } as const satisfies SeenSession;
    const home: HomeReads = {
      sessions: async () => ({
        ok: true,
        answer: { sessions: [session, { ...session, id: "s0", session_id: "s0", told: [] }] },
      }),
      settings: async () => ({
        ok: true,
        answer: { values: [{ key: "butler.name", value: "general", source: "default", differs: false }] },
      }),
      jobs: async () => ({ ok: true, answer: { jobs: [] } }),
      standing: async () => ({ ok: false, error: { code: "unavailable", message: "nobody measures" } }),
      tokens: { list: noTokens, create: noTokens, rotate: noTokens, revoke: noTokens },
      follow: () => () => undefined,
    };
    const api = apiOver(rig, {}, { home });
    const first = await api.get("sessions?limit=1");
    expect(first).toMatchObject({ sessions: [{ id: "s1", told: [{ memories: 2 }] }], next_cursor: "s1" });
    expect((await api.get(`sessions?cursor=${first.next_cursor}`)).sessions).toMatchObject([{ id: "s0" }]);
    expect((await api.refused("sessions?cursor=nobody")).status).toBe(400);
    const one = await api.get("sessions/s1");
    expect(one.told[0].memories).toMatchObject([
      { id: fact.id, text: "dns provider: Route 53" },
      { id: "01990000-0000-7000-8000-000000000000" },
    ]);
    expect(one.stored).toMatchObject([{ entity_id: episode.id }]);
    expect(one.learned).toMatchObject([{ entity_id: learned.id }]);
    expect((await api.refused("sessions/other")).status).toBe(404);
    expect((await api.get("settings")).values).toHaveLength(1);
    expect(await api.get("health")).toMatchObject({ ok: true, store: "open", waiting: { backlog: 1 }, jobs: [] });
    expect((await api.get("/api/memory/health")).butlers).toHaveLength(1);
  });

  it("activity comes as it happens, goes on where it was cut off, and ends with the owner", async () => {
    const rig = await open({ model: false });
    const tellers = new Set<() => void>();
    const home = {
      follow(_: string, changed: () => void) {
        tellers.add(changed);
        return () => tellers.delete(changed);
      },
    } as unknown as HomeReads;
    const ending = new AbortController();
    const api = apiOver(rig, { signal: ending.signal }, { home });
    const follow = async (headers: Record<string, string> = {}) => {
      const response = await api.app.request("/api/butlers/general/memory/activity/live", {
        headers: { host: "127.0.0.1:4270", authorization: "Bearer root", ...headers },
      });
      return { response, read: eventsOf(response) };
    };
    const before = await rig.call("memory_store_fact", { subject: "s", predicate: "p0", content: "v0" });
    const live = await follow();
    expect(live.response.headers.get("content-type")).toContain("text/event-stream");
    const fact = await rig.call("memory_store_fact", { subject: "s", predicate: "p", content: "v" });
    for (const tell of tellers) tell();
    const event = await live.read();
    expect(event.data).toMatchObject({ entity_id: fact.id, event_type: "fact.stored" });
    const again = await follow({ "last-event-id": event.id });
    const next = await rig.call("memory_store_rule", { content: "A rule." });
    for (const tell of tellers) tell();
    expect((await again.read()).data).toMatchObject({ entity_id: next.id });
    expect((await api.refused("activity/live", { headers: { "last-event-id": "forged" } })).status).toBe(400);
    expect(
      (await api.refused("activity/live", { as: "stranger", headers: { "last-event-id": event.id } })).status,
    ).toBe(400);
    expect((await api.refused("activity/live", { as: "" })).status).toBe(401);
    const started = await follow({ "last-event-id": "e0" });
    expect((await started.read()).data).toMatchObject({ entity_id: before.id });
    // A tenant that follows with many pages takes none of another one's places.
    const many = { host: "127.0.0.1:4270", authorization: "Bearer stranger" };
    const statuses = new Map<number, number>();
    for (let n = 0; n < 60; n++) {
      const { status } = await api.app.request("/api/butlers/general/memory/activity/live", { headers: many });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect([...statuses]).toEqual([
      [200, 50],
      [503, 10],
    ]);
    expect((await api.ask("GET", "activity/live", { as: "stranger" })).headers.get("retry-after")).toBe("30");
    expect((await follow()).response.status).toBe(200);
    ending.abort();
    expect(tellers.size).toBe(0);
    expect((await api.app.request("/api/butlers/general/memory/activity/live", { headers: many })).status).toBe(200);
  });
});

/** Reads one event after the other; comments and settings are passed over. */
function eventsOf(response: Response) {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = "";
  return async (): Promise<{ id: string; data: Record<string, unknown> }> => {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end >= 0) {
        const block = text.slice(0, end);
        text = text.slice(end + 2);
        const line = (name: string) =>
          block
            .split("\n")
            .find((one) => one.startsWith(`${name}: `))
            ?.slice(name.length + 2);
        const data = line("data");
        if (data !== undefined) return { id: line("id") ?? "", data: JSON.parse(data) };
        continue;
      }
      const { value, done } = await reader.read();
      if (done) throw new Error("the stream has ended");
      text += decoder.decode(value, { stream: true });
    }
  };
}
