/** Gemini CLI puts what its hooks say into the prompt, in tags and escaped, and hands that prompt to the next hook. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { homeAt } from "../../src/daemon/home.ts";
import { silentLog } from "../../src/engine/adapters/log.ts";
import { asOwner } from "../../src/engine/memory/tenancy.ts";
import { hookAnswerer } from "../../src/hosts/hooks/answer-hook.ts";
import { createPickup } from "../../src/hosts/hooks/spool/pickup.ts";
import { everyone } from "../support/owner-fakes.ts";
import { PATIENCE } from "../support/patience.ts";
import { type Guest, onOneRig } from "../support/tenants.ts";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const escaped = (text: string) => text.replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** As the program does it: the answer to the start in front of the prompt, the one to the prompt behind it. */
function gemini(g: Guest) {
  const root = mkdtempSync(join(tmpdir(), "gemini-hooks-"));
  folders.push(root);
  const home = homeAt(join(root, "home"));
  const clock = { now: () => new Date(), fixed: true };
  const pickup = createPickup({
    ...{ home, clock, log: silentLog, settleMs: 60_000 },
    ingest: (_, __, project, episodes) => g.outcome("memory_ingest_batch", { episodes }, { project: project ?? "" }),
  });
  const hook = hookAnswerer({
    ...{ home, clock, log: silentLog, pickup, limitMs: PATIENCE.timeout },
    remembers: () => true,
    invoke: (_, __, { tool, input, ...more }) => g.outcome(tool, input, more),
  });
  async function told(event: string, session: string, more: object): Promise<string> {
    const input = { session_id: session, cwd: "/nowhere", transcript_path: "/nowhere/chat.json", ...more };
    const answer = await hook(everyone, { agent: "gemini", event, butler: "general", input, project: "p" }, true);
    if (!answer.ok) throw new Error(answer.error.message);
    answer.settled?.(true);
    const said = answer.answer as { hookSpecificOutput?: { additionalContext: string } } | undefined;
    const context = said?.hookSpecificOutput?.additionalContext ?? "";
    return context === "" ? "" : `<hook_context>${escaped(context)}</hook_context>`;
  }
  /** The request that the model is sent. */
  async function session(name: string, source: string, prompt: string, reply: string): Promise<string> {
    const start = await told("SessionStart", name, { source });
    const typed = start === "" ? prompt : `${start}\n\n${prompt}`;
    const request = typed + (await told("BeforeAgent", name, { prompt: typed }));
    await told("AfterAgent", name, { prompt: request, prompt_response: reply });
    await pickup.sweep();
    return request;
  }
  return session;
}

const blocks = (request: string) => request.split("&lt;butler-memory&gt;").length - 1;

onOneRig("Gemini CLI", (guest) => {
  it("is told once, behind the prompt, and what it hands back is not stored", async () => {
    const g = guest();
    const session = gemini(g);
    const said = "The staging database listens on port 5433.";
    expect(await session("one", "startup", said, "Noted.")).toBe(said);
    const asked = "On which port does the staging database listen?";
    const request = await session("two", "startup", asked, "On 5433.");
    expect(request).toMatch(/^On which port[^<]*<hook_context>&lt;butler-memory&gt;[^<]*5433[^<]*<\/hook_context>$/);
    expect(blocks(request)).toBe(1);
    const more = "Which branch do we deploy from on Fridays?";
    expect(await session("two", "resume", more, "From main.")).toBe(more);
    const rows = await asOwner(g.memory, "lab").query<{ content: string }>(
      "select content from episodes where tenant_id = $1 order by created_at, id",
      [g.tenant],
    );
    expect(rows.map(({ content }) => content)).toEqual([
      `User: ${said}\nAgent: Noted.`,
      `User: ${asked}\nAgent: On 5433.`,
      `User: ${more}\nAgent: From main.`,
    ]);
  });
});
