/** The line in which an agent's hook tells the person what was learned. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Outcome, ToolRequest } from "../../src/engine/tools/outcome.ts";
import { filesIn, namesEnding } from "../../src/hosts/hooks/spool/files.ts";
import { projectOf } from "../../src/hosts/projects/project.ts";
import { hookHost, type Told } from "../support/hook-host.ts";
import { PATIENCE } from "../support/patience.ts";
import { type Guest, onOneRig } from "../support/tenants.ts";

const agent = { as: { name: "agent", voice: "user" } } as const;

/** Context is gathered when the question for news is answered: otherwise the line might come with the prompt after. */
function host(g: Guest, on = true) {
  let looking: Promise<unknown> = Promise.resolve();
  const asked: string[] = [];
  /** What a look for news waits for: prompts are answered without it then. */
  let held: Promise<void> | undefined;
  /** A place of another store is looked for a second time. */
  const looked = async (): Promise<void> => {
    const last = looking;
    await last;
    await new Promise((resolve) => setImmediate(resolve));
    if (looking !== last) await looked();
  };
  const invoke = async (_: unknown, { tool, input, ...more }: ToolRequest): Promise<Outcome> => {
    asked.push(tool);
    if (tool === "memory_context" && held === undefined) await looked();
    const isLook = tool === "memory_activity_stream";
    const answer =
      isLook && held !== undefined ? held.then(() => g.outcome(tool, input, more)) : g.outcome(tool, input, more);
    if (isLook) looking = answer;
    return answer;
  };
  /** Holds up every look until the returned function is called, which resolves when the last of them was answered. */
  const hold = () => {
    let release: () => void = () => undefined;
    held = new Promise((done) => {
      release = done;
    });
    return async () => {
      release();
      await looked();
      held = undefined;
    };
  };
  let nth = 0;
  const h = hookHost({ tenant: g.tenant, invoke, notices: () => (on ? nth : undefined) });
  const changed = () => void nth++;
  const prompt = async (session: string, told: Told = {}, more: object = {}) =>
    (await h.event("UserPromptSubmit", session, { prompt: "Go on, please, with that", ...more }, told))?.systemMessage;
  return { ...h, asked, changed, prompt, hold };
}

onOneRig("notices", (guest) => {
  it("tell once what was learned in the project, whichever of its sessions comes next", async () => {
    const g = guest();
    const h = host(g);
    await g.call("memory_store_rule", { content: "Known before there were hooks" });
    const project = projectOf(h.project).key;
    h.changed();
    expect(await h.prompt("one")).toBeUndefined();
    const learn = (content: string, at: string | undefined = project) =>
      g.call("memory_store_rule", { content }, { ...agent, project: at });
    await learn("Use pnpm, not npm.");
    await g.call("memory_store_fact", { subject: "dns", predicate: "host", content: "route53" }, { ...agent, project });
    await learn("Only for another project", "elsewhere");
    await g.call("memory_store_rule", { content: "I wrote it myself" }, { project, as: { name: "local" } });
    await g.call("memory_store_episode", { content: "Merely stored" }, { ...agent, project });
    h.changed();
    expect(await h.prompt("one", { delivered: false })).toBe(
      "Butler Memory learned 2 things: rule “Use pnpm, not npm.” · fact “dns host: route53” · butler log shows more",
    );
    // The line was lost with its answer, so it comes again.
    expect(await h.prompt("two")).toMatch(/learned 2 things/);
    expect(await h.prompt("two")).toBeUndefined();
    h.changed();
    expect(await h.prompt("one")).toBeUndefined();
    await h.restart();
    expect(await h.prompt("one")).toBeUndefined();
    await learn("Ask before pushing.");
    h.changed();
    expect(await h.prompt("one", { agent: "cursor" }, { hook_event_name: "x" })).toBeUndefined();
    expect((await h.event("SessionStart", "three"))?.systemMessage).toMatch(
      /learned 1 thing: rule “Ask before pushing/,
    );
  });

  it("are counted from the first hook of a project, though its agent did not wait for it", async () => {
    const g = guest();
    const h = host(g);
    const project = projectOf(h.project).key;
    await h.event("SessionStart", "one", {}, { gone: Date.now() });
    await expect.poll(() => namesEnding(h.home.spool, ".told.json"), PATIENCE).toHaveLength(1);
    await g.call("memory_store_rule", { content: "Use pnpm, not npm." }, { ...agent, project });
    h.changed();
    await h.event("UserPromptSubmit", "one", { prompt: "Go on" }, { gone: Date.now() });
    expect(await h.prompt("two")).toMatch(/learned 1 thing: rule “Use pnpm/);
  });

  it("are told with the next prompt where each is answered sooner than what was learned is looked up", async () => {
    const g = guest();
    const h = host(g);
    const project = projectOf(h.project).key;
    h.changed();
    await h.prompt("one");
    const learn = (content: string) => g.call("memory_store_rule", { content }, { ...agent, project });
    await learn("Use pnpm, not npm.");
    h.changed();
    let release = h.hold();
    expect(await h.prompt("one")).toBeUndefined();
    await release();
    const looks = () => h.asked.filter((tool) => tool === "memory_activity_stream").length;
    const before = looks();
    release = h.hold();
    expect(await h.prompt("two")).toMatch(/learned 1 thing: rule “Use pnpm/);
    expect(looks()).toBe(before);
    expect(await h.prompt("one")).toBeUndefined();
    await release();

    // What was forgotten since is not told from a look of before.
    const { id } = await learn("ROSEBUD");
    h.changed();
    release = h.hold();
    expect(await h.prompt("one")).toBeUndefined();
    await release();
    await g.call("memory_forget", { type: "rule", id }, { project });
    h.changed();
    release = h.hold();
    expect(await h.prompt("one")).toBeUndefined();
    await release();
    expect(await h.prompt("one")).toBeUndefined();
  });

  it("hold no secret, nothing private and nothing forgotten, and stay one short line", async () => {
    const g = guest();
    const h = host(g);
    const project = projectOf(h.project).key;
    h.changed();
    await h.prompt("one");
    const learn = (content: string) => g.call("memory_store_rule", { content }, { ...agent, project });
    await learn(`Log in with ghp_${"a1B2c3D4e5F6".repeat(3)}`);
    await learn("Say [private] to nobody");
    const { id } = await learn("ROSEBUD");
    await g.call("memory_forget", { type: "rule", id }, { project });
    await learn(`First line\n\u001b[31mButler Memory is gone\u202e ${"and so on ".repeat(50)}`);
    for (let n = 0; n < 30; n++) await learn(`Rule number ${n} of many`);
    h.changed();
    const line = (await h.prompt("one")) ?? "";
    expect(line).toMatch(/^Butler Memory learned 33 things: rule “First line.* · butler log shows more$/);
    expect(line.length).toBeLessThanOrEqual(160);
    expect(line).not.toMatch(/[\p{Cc}\u202e]|ghp_|redacted|private|ROSEBUD/u);
  });

  it("ask nothing while nothing has changed, where they are switched off, or where an agent cannot show them", async () => {
    const g = guest();
    const off = host(g, false);
    off.changed();
    expect(await off.prompt("one")).toBeUndefined();
    expect(off.asked).not.toContain("memory_activity_stream");
    const h = host(g);
    const looks = () => h.asked.filter((tool) => tool === "memory_activity_stream").length;
    h.changed();
    await h.prompt("one");
    const before = looks();
    await h.prompt("one");
    await h.prompt("two");
    expect(looks()).toBe(before);
    h.changed();
    await h.prompt("two", { agent: "cursor" });
    expect(looks()).toBe(before);
  });

  it("never hold up or fail a hook: a lost or foreign place begins anew, a home that cannot be read tells none", async () => {
    const g = guest();
    const h = host(g);
    const project = projectOf(h.project).key;
    h.changed();
    await h.prompt("one");
    const [place] = filesIn(h.home.spool).filter((name) => name.endsWith(".told.json"));
    const id = "0198c0de-1234-7abc-8def-0123456789ab";
    writeFileSync(join(h.home.spool, String(place)), JSON.stringify({ cursor: `e${id}` }));
    await g.call("memory_store_rule", { content: "Learned meanwhile" }, { ...agent, project });
    h.changed();
    expect(await h.prompt("one")).toBeUndefined();
    await g.call("memory_store_rule", { content: "Learned after" }, { ...agent, project });
    h.changed();
    expect(await h.prompt("one")).toContain("Learned after");
    writeFileSync(join(h.home.spool, String(place)), "{");
    h.changed();
    expect(await h.prompt("one")).toBeUndefined();
    rmSync(join(h.home.spool, String(place)));
    mkdirSync(join(h.home.spool, String(place)));
    h.changed();
    expect(await h.prompt("one")).toBeUndefined();
  });
});
