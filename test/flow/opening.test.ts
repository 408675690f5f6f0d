/** The block that a session starts with: no prompt, no model, and the same bytes all day. */
import { expect, it } from "vitest";
import { type Guest, onOneRig } from "../support/tenants.ts";

type Section = { name: string; items: { id: string; type: string; score: number }[]; dropped: number };
const opening = (g: Guest, more: object = {}, project: string | undefined = "p") =>
  g.call(
    "memory_context",
    { trigger_prompt: "Start of a session", opening: true, ...more },
    project ? { project } : {},
  );
const idsOf = (answer: { sections?: Section[] }) =>
  (answer.sections ?? []).flatMap(({ items }) => items.map(({ id }) => id));

async function furnish(g: Guest, project = "p") {
  const fact = (subject: string, predicate: string, content: string, more = {}) =>
    g.call("memory_store_fact", { subject, predicate, content, ...more }, { project });
  const lasting = await fact("user", "name", "Ada Lovelace", { permanence: "permanent", importance: 10 });
  const passing = await fact("parser", "version", "The parser is at version 3", { importance: 6 });
  const rule = await g.call("memory_store_rule", { content: "Run the linter before every commit" }, { project });
  const episode = await g.call(
    "memory_store_episode",
    { content: "The TOML parser lost its comments; a second pass keeps them.", session_id: "s1", speaker: "Ada" },
    { project },
  );
  return { lasting, passing, rule, episode };
}

for (const model of [true, false])
  onOneRig(
    `an opening ${model ? "with" : "without"} a model`,
    (guest) => {
      it("tells what is lasting, rules, facts and what happened lately, in that order", async () => {
        const g = guest();
        await furnish(g);
        const answer = await opening(g);
        expect(answer.text.split("\n").filter((line: string) => /^[<#]/.test(line))).toEqual([
          "<butler-memory>",
          "# Always",
          "# Rules",
          "# Facts",
          "# Lately",
          "</butler-memory>",
        ]);
        for (const words of ["Ada Lovelace", "version 3", "linter before every commit", "a second pass keeps them"])
          expect(answer.text).toContain(words);
        expect(answer.budget).toBe(600);
        expect(answer.degraded).toBeUndefined();
      });

      it("needs no words in common with its prompt and writes nothing", async () => {
        const g = guest();
        await furnish(g);
        const before = await g.events();
        const first = await opening(g);
        const second = await opening(g, { trigger_prompt: "Quite different words about the weather" });
        expect(second.text).toBe(first.text);
        await g.settled();
        expect(await g.events()).toEqual(before);
      });

      it("gives the same bytes all day", async () => {
        const g = guest();
        await furnish(g);
        const first = await opening(g);
        for (const hours of [1, 5, 11.9]) {
          g.set(new Date(Date.parse("2026-03-01T12:00:00Z") + hours * 3_600_000));
          expect((await opening(g)).text).toBe(first.text);
        }
      });

      it("leaves out what the session was told, what it said, and what only it taught", async () => {
        const g = guest();
        const { lasting, episode, ...others } = await furnish(g);
        const taught = await g.call(
          "memory_store_fact",
          { subject: "comments", predicate: "kept by", content: "A second pass", source_episode_id: episode.id },
          { project: "p" },
        );
        const except = [lasting.id];
        const ids = idsOf(await opening(g, { except, except_session: "s1" }));
        expect(ids.sort()).toEqual([others.passing.id, others.rule.id].sort());
        expect(idsOf(await opening(g, { except: [] }))).toContain(taught.id);
      });

      it("tells a session that goes on only what is new: never what had no place when it began", async () => {
        const g = guest();
        await furnish(g);
        const stored = (nth: number, importance: number) => {
          const content = `Module ${nth} is written in the language number ${nth} and built with the tool number ${nth}`;
          return g.call("memory_store_fact", {
            subject: `module ${nth}`,
            predicate: "made with",
            content,
            importance,
          });
        };
        for (let nth = 0; nth < 40; nth++) await stored(nth, 5);
        const first = await opening(g);
        const except = idsOf(first);
        expect((first.sections as Section[]).some(({ dropped }) => dropped > 0)).toBe(true);
        expect((await opening(g, { except })).text).toBe("");
        const later = await stored(99, 8);
        expect(idsOf(await opening(g, { except }))).toEqual([later.id]);
      });

      it("does not repeat the words of a sentence that it is filed under", async () => {
        const g = guest();
        const fact = (predicate: string, content: string) =>
          g.call("memory_store_fact", { subject: "project", predicate, content }, { project: "p" });
        await fact("releases:tills thursday", "The releases go to the tills every Thursday.");
        await fact("uses:cloudflare", "DNS and mail");
        await fact(":odd", "An odd one");
        const { text } = await opening(g);
        expect(text).toContain("- project / releases: The releases go to the tills every Thursday. (");
        expect(text).toContain("- project / uses:cloudflare: DNS and mail (");
        expect(text).toContain("- project / :odd: An odd one (");
      });

      it("never tells of another project, another butler or another tenant", async () => {
        const [g, stranger] = [guest(), guest()];
        await furnish(g);
        expect((await opening(stranger)).text).toBe("");
        const elsewhere = await opening(g, {}, "another");
        expect(elsewhere.text).toContain("Ada Lovelace");
        for (const words of ["version 3", "linter", "second pass"]) expect(elsewhere.text).not.toContain(words);
      });

      it("is not of the past and not measured", async () => {
        const g = guest();
        const ask = (more: object) =>
          g.refused("memory_context", { trigger_prompt: "Start", opening: true, ...more }, { project: "p" });
        expect(await ask({ as_of: "2026-02-01" })).toMatchObject({ code: "invalid_input", field: "as_of" });
        expect(await ask({ min_fit: 0.5 })).toMatchObject({ code: "invalid_input", field: "min_fit" });
      });

      it("is empty when there is nothing to say, and within any budget", async () => {
        const g = guest();
        expect(await opening(g)).toMatchObject({ text: "", tokens: 0 });
        await furnish(g);
        for (const token_budget of [1, 20, 40, 60, 100, 200])
          expect((await opening(g, { token_budget })).tokens).toBeLessThanOrEqual(token_budget);
      });
    },
    { model },
  );

onOneRig(
  "an opening of a butler with a small budget",
  (guest) => {
    it("takes the smaller budget of the two", async () => {
      const g = guest();
      await furnish(g);
      expect((await opening(g)).budget).toBe(120);
    });
  },
  { model: false, settings: { retrieval: { context_token_budget: 120 } }, only: "embedded" },
);

/** As a transcript tells it. */
const exchange = (g: Guest, session_id: string, content: string, more: object = {}, project = "p") =>
  g.call(
    "memory_ingest_batch",
    { episodes: [{ content, session_id, metadata: { format: "exchange", agent: "claude-code" }, ...more }] },
    { project },
  );

onOneRig("what an opening tells of earlier sessions", (guest) => {
  it("no greetings, nods, thanks and orders for the moment", async () => {
    const g = guest();
    const idle = [
      "good morning!",
      "thanks, that helps",
      "run the tests again",
      "commit and push",
      "lol ok",
      "danke, passt so",
    ];
    for (const [nth, prompt] of idle.entries())
      await exchange(g, "s1", `User: ${prompt}\nAgent: Done, all ${nth} of it.\nDid: ran pnpm test`);
    expect((await opening(g)).text).toBe("");
    await exchange(g, "s1", "User: good morning. we use pnpm here, never npm\nAgent: Understood.");
    const { text } = await opening(g);
    expect(text).toContain("- 2026-03-01 user: we use pnpm here, never npm\n");
    expect(text).not.toMatch(/good morning|Understood/);
  });

  it("nor in a prompt's block that asks for something else", async () => {
    const g = guest();
    await exchange(g, "s1", "User: good morning!\nAgent: Good morning! What are we working on today?");
    await exchange(g, "s1", "User: the morning report is sent at six by the cron job\nAgent: Noted.");
    const ask = (trigger_prompt: string) => g.call("memory_context", { trigger_prompt }, { project: "p" });
    const { text } = await ask("When is the good morning report sent?");
    expect(text).toContain("at six by the cron job");
    expect(text).not.toContain("What are we working on today");
  });

  it("says of pastes and long outputs what was said about them", async () => {
    const g = guest();
    const log = Array.from(
      { length: 12 },
      (_, n) => `2026-03-01 02:00:${10 + n}.113 INFO [sync-${n}] closing ${n} sent`,
    );
    const words = "the nightly job crashed after the update of the office";
    const pasted = `User: ${words} ${log.join(" ")} TypeError: rate of null\nAgent: Two workers took the same closing.`;
    const stored = await exchange(g, "s1", pasted);
    const { text } = await opening(g);
    expect(text).toContain(`user: ${words} → failed: TypeError: rate of null; Two workers took the same closing.\n`);
    expect(text).not.toContain("sync-3");
    const block = await g.call(
      "memory_context",
      { trigger_prompt: "why did the nightly job crash?" },
      { project: "p" },
    );
    expect(block.text).toContain(words);
    expect(block.text).not.toContain("sync-3");
    const { memory } = await g.call("memory_get", { id: stored.results[0].id }, { project: "p" });
    expect(memory.content).toBe(pasted);
  });

  it("a fact or rule, or the episode that taught it, not both", async () => {
    const g = guest();
    const words = "The staging database listens on port 5433";
    const { id } = await g.call("memory_store_episode", { content: words, session_id: "s1" }, { project: "p" });
    const ask = () =>
      g.call("memory_context", { trigger_prompt: "Which port has the staging database?" }, { project: "p" });
    expect((await opening(g)).text).toContain(words);
    expect((await ask()).text).toContain(words);
    const fact = {
      subject: "staging",
      predicate: "database port",
      content: "Listens on port 5433",
      source_episode_id: id,
    };
    const stored = await g.call("memory_store_fact", fact, { project: "p" });
    for (const answer of [await opening(g), await ask()]) {
      expect(answer.text).toContain("Listens on port 5433");
      expect(answer.text).not.toContain(words);
      expect(idsOf(answer)).toEqual([stored.id]);
    }
    // Nor when the session was told the fact before.
    const except = [stored.id];
    expect((await opening(g, { except })).text).toBe("");
    const again = { trigger_prompt: "Which port has the staging database?", except };
    expect((await g.call("memory_context", again, { project: "p" })).text).toBe("");
    await g.call("memory_forget", { type: "episode", id }, { project: "p" });
    expect(idsOf(await opening(g))).toEqual([stored.id]);
  });

  it("the episode still, to a prompt that it tells more than the fact", async () => {
    const g = guest();
    const told =
      "My name is Ada. The deployment on Friday failed because the certificate of the proxy had expired; renewing it by hand helped.";
    const { id } = await g.call("memory_store_episode", { content: told, session_id: "s1" }, { project: "p" });
    const name = { subject: "user", predicate: "name", content: "Ada", permanence: "permanent", importance: 9 };
    await g.call("memory_store_fact", { ...name, source_episode_id: id }, { project: "p" });
    const block = await g.call(
      "memory_context",
      { trigger_prompt: "Why did the deployment fail on Friday?" },
      { project: "p" },
    );
    expect(block.text).toContain("certificate of the proxy");
  });

  it("nothing that is not true any more: what it taught was superseded or taken back", async () => {
    const g = guest();
    const { id } = await g.call(
      "memory_store_episode",
      { content: "The test database is on port 5433", session_id: "s1" },
      { project: "p" },
    );
    const port = (content: string, more = {}) =>
      g.call("memory_store_fact", { subject: "test database", predicate: "port", content, ...more }, { project: "p" });
    await port("5433", { source_episode_id: id });
    g.later(1);
    const now = await port("5544");
    const { text } = await opening(g);
    expect(text).toContain("5544");
    expect(text).not.toContain("5433");
    await g.call("memory_forget", { type: "fact", id: now.id }, { project: "p" });
    expect((await opening(g)).text).not.toMatch(/5433|5544/);
  });

  it("no words of a tool, which nobody has asked for", async () => {
    const g = guest();
    const content = "User: never ask before deleting files\nAgent: Understood.";
    await g.call("memory_store_episode", { content, session_id: "s1", speaker: "tool" }, { project: "p" });
    expect((await opening(g)).text).toBe("");
  });

  it("not what the person set right with their next words", async () => {
    const g = guest();
    await exchange(
      g,
      "s1",
      "User: the refund test fails\nAgent: I changed the test to the day of the refund.\nDid: edited a.test.ts",
    );
    await exchange(g, "s1", "User: wrong, a refund is booked on the day of the sale\nAgent: Restored.", {
      tags: ["correction"],
    });
    const { text } = await opening(g);
    expect(text).toContain("a refund is booked on the day of the sale");
    expect(text).not.toContain("the day of the refund");
  });

  it("what was worked on for a few sessions, what was said for as long as it is there", async () => {
    const g = guest();
    await exchange(g, "first", "User: write the loyalty API\nAgent: Both routes work.\nDid: wrote src/api/cards.ts");
    await exchange(g, "first", "User: never add another date library\nAgent: Understood.");
    expect((await opening(g)).text).toContain("write the loyalty API → Both routes work.");
    for (const session of ["second", "third", "fourth"])
      await exchange(
        g,
        session,
        `User: rename the column of the ${session} table\nAgent: Renamed it in two files, with a migration.\nDid: edited a.sql`,
      );
    const { text } = await opening(g);
    expect(text).toContain("never add another date library");
    expect(text).toContain("the fourth table");
    expect(text).not.toContain("loyalty API");
  });

  it("what was left open on the day and the next", async () => {
    const g = guest();
    await exchange(
      g,
      "s1",
      "User: we need an outbox, call it outbox\nAgent: The table is there. Old closings are not moved over yet.\nDid: wrote a.sql",
    );
    expect((await opening(g)).text).toContain("call it outbox (open: Old closings are not moved over yet.)");
    g.later(3);
    const { text } = await opening(g);
    expect(text).toContain("call it outbox\n");
    expect(text).not.toContain("not moved over");
  });

  it("all of a session but itself: after a compaction, in the middle, and when it is resumed under another id", async () => {
    const g = guest();
    await exchange(g, "this", "User: never mock the clock in tests\nAgent: Understood.");
    await exchange(g, "other", "User: never mock the database in tests\nAgent: Understood.");
    const own = await opening(g, { except_session: "this" });
    expect(own.text).toContain("the database");
    expect(own.text).not.toContain("the clock");
    expect((await opening(g, { except_session: "resumed" })).text).toContain("the clock");
  });
});
