import { expect, it } from "vitest";
import { type Guest, onOneRig } from "../support/tenants.ts";

type Step = { check: string; ok: boolean; words: string };
type Answer = {
  id: string;
  shown: boolean;
  place: number | null;
  of: number;
  limit: number | null;
  verdict: string;
  steps: Step[];
  explain?: Record<string, unknown>;
  degraded?: string;
};

const why = async (g: Guest, id: string, query: string, extra = {}, as = {}): Promise<Answer> =>
  (await g.call("memory_why", { id, query, ...extra }, { as })) as Answer;
const fact = async (g: Guest, predicate: string, content: string, extra = {}): Promise<string> =>
  (await g.call("memory_store_fact", { subject: "user", predicate, content, ...extra })).id;
const episode = async (g: Guest, content: string, extra = {}): Promise<string> =>
  (await g.call("memory_store_episode", { content, ...extra })).id;

/** Kept out for this reason and, up to it, for no other. */
function expectOut(answer: Answer, check: string, words: RegExp): void {
  expect(answer.shown, answer.verdict).toBe(false);
  const first = answer.steps.find(({ ok }) => !ok);
  expect(first, answer.verdict).toMatchObject({ check, ok: false, words: expect.stringMatching(words) });
  expect(answer.verdict).toBe(first?.words);
}

function expectShown(answer: Answer, words: RegExp): void {
  expect(answer.verdict).toMatch(words);
  expect(answer.steps.filter(({ ok }) => !ok)).toEqual([]);
  expect(answer.shown).toBe(true);
}

onOneRig("why", (guest) => {
  it("tells how a shown memory got its place, with the numbers of a search that explains", async () => {
    const g = guest();
    const cat = await fact(g, "pet", "A cat called Turing");
    await fact(g, "bank", "Sparkasse");
    const answer = await why(g, cat, "Which cat?");
    expect(answer).toMatchObject({ id: cat, type: "fact", for: "search", place: 1, of: 1, limit: 20 });
    expectShown(
      answer,
      /^It is shown at place 1 of 1: found by its words \(place 1\) and by its meaning \(place 1\), carried/,
    );
    expect(answer.steps.map(({ check }) => check)).toEqual(
      "exists scope forgotten superseded expired valid outranked types confidence found place".split(" "),
    );
    expect(answer.steps.at(-2)?.words).toMatch(/shares “cat” and is place 1 of 1.*cosine is 0\.\d{3}, place 1 of 2\./);
    const [hit] = (await g.call("memory_search", { query: "Which cat?", explain: true })).results;
    expect(answer.explain).toEqual(hit.explain);
  });

  it("knows nothing of another tenant, of a scope the caller may not see, and of no id", async () => {
    const g = guest();
    const mine = await fact(g, "pet", "A cat called Turing", { scope: "general" });
    const theirs = await g.call(
      "memory_store_fact",
      { subject: "user", predicate: "pet", content: "A cat", scope: "travel" },
      { as: { admin: true } },
    );
    const stranger = guest();
    const asked = { query: "cat" };
    const nobody = "0198c0de-1234-7abc-8def-0123456789ab";
    for (const refusal of [
      await stranger.refused("memory_why", { ...asked, id: mine }),
      await g.refused("memory_why", { ...asked, id: theirs.id }),
      await g.refused("memory_why", { ...asked, id: nobody }),
    ])
      expect(refusal).toEqual({
        code: "not_found",
        message: expect.stringMatching(/^no memory with the id .*first\.$/),
      });
    expectOut(
      await why(g, mine, "cat", { scope: "global" }),
      "scope",
      /scope “general”, and only “global” is looked at/,
    );
    expectOut(await why(g, theirs.id, "cat", {}, { admin: true }), "scope", /“travel”.*only “global” and “general”/);
    expectShown(await why(g, theirs.id, "cat", { scope: "*" }, { admin: true }), /place \d of 2/);
    expect((await g.refused("memory_why", { ...asked, id: mine, scope: "*" })).code).toBe("forbidden");
  });

  it("a forgotten one: when and why", async () => {
    const g = guest();
    const id = await episode(g, "The cat slept on the laptop");
    await g.call("memory_forget", { id, reason: "It was a dog." });
    const answer = await why(g, id, "cat");
    expectOut(answer, "forgotten", /forgotten on 2026-03-01 12:00 UTC \(“It was a dog\.”\)/);
    expect(answer).toMatchObject({ place: null, of: 0 });
    expectOut(await why(g, id, "cat", { for: "context" }), "forgotten", /It was a dog/);
  });

  it("a superseded one: by which", async () => {
    const g = guest();
    const oslo = await fact(g, "lives in", "Oslo");
    const bergen = await fact(g, "lives in", "Bergen");
    expectOut(
      await why(g, oslo, "Oslo"),
      "superseded",
      new RegExp(`superseded on 2026-03-01 12:00 UTC by fact ${bergen}`),
    );
  });

  it("what is over: an episode, a fact with an end, a fact that was over when told", async () => {
    const g = guest();
    const night = await episode(g, "The cat slept on the laptop");
    const visa = await fact(g, "visa", "A visa for the cat", { valid_to: "2026-03-05T00:00:00Z" });
    const past = await fact(g, "passport", "A passport for the cat", { valid_to: "2026-02-01T00:00:00Z" });
    expectOut(await why(g, past, "cat"), "expired", /has expired/);
    expectShown(await why(g, visa, "cat"), /shown/);
    g.later(8);
    expectOut(await why(g, night, "cat"), "expired", /time in tier eden was over on 2026-03-08 12:00 UTC/);
    expectOut(await why(g, visa, "cat"), "valid", /held only until 2026-03-05 00:00 UTC/);
  });

  it("a faded one: both numbers, and how the confidence came about", async () => {
    const g = guest();
    const id = await fact(g, "mood", "Cheerful", { permanence: "volatile", confidence: 0.9 });
    g.later(60);
    const answer = await why(g, id, "cheerful mood");
    expectOut(
      answer,
      "confidence",
      /is 0\.149, below the 0\.200 .*stored 0\.900, fading by 0\.03 a day for 60\.0 days/,
    );
    expectShown(await why(g, id, "cheerful mood", { min_confidence: 0.1 }), /place 1 of 1/);
  });

  it("filters, each by its name, and all that are shut", async () => {
    const g = guest();
    const id = await fact(g, "pet", "A cat called Turing", { tags: ["pets"] });
    const slept = await episode(g, "The cat slept");
    expectOut(
      await why(g, id, "cat", { types: ["rule", "episode"] }),
      "types",
      /a fact; asked was for rules and episodes/,
    );
    expectOut(await why(g, id, "cat", { tier: "eden" }), "tier", /a fact and has no tier/);
    expectOut(
      await why(g, slept, "cat", { tier: "long" }),
      "tier",
      /in tier eden; asked was for episodes of tier long/,
    );
    expectOut(await why(g, id, "cat", { tags: ["pets", "home"] }), "tags", /lacks the tag “home”/);
    expectShown(await why(g, slept, "cat", { tier: "eden", types: ["episode"] }), /place 1 of 1/);
    const both = await why(g, id, "cat", { types: ["rule"], tags: ["home"] });
    expect(both.steps.filter(({ ok }) => !ok).map(({ check }) => check)).toEqual(["types", "tags"]);
  });

  it("below the limit: the scores, and what it is weaker in", async () => {
    const g = guest();
    await fact(g, "pet", "A cat called Turing, a most beloved cat");
    const far = await fact(g, "bank", "Sparkasse");
    const answer = await why(g, far, "beloved cat", { limit: 1, min_relevance: 0 });
    expectOut(
      answer,
      "place",
      /place 2 of 2, with a score of 0\.\d+; 1 are shown, the last with .*weaker in .*against/,
    );
    expect(answer).toMatchObject({ place: 2, of: 2, limit: 1 });
    expect(answer.explain).toBeDefined();
    expectOut(
      await why(g, far, "beloved cat", { limit: 1, min_relevance: 0, rank: "composite" }),
      "place",
      /By composite it is place 2 .*weaker in relevance/,
    );
  });

  it("gave way to variety", async () => {
    const g = guest();
    const tea = (subject: string, predicate: string) =>
      g.call("memory_store_fact", { subject, predicate, content: "tea at noon" }).then(({ id }) => id as string);
    const white = await tea("Grace", "white");
    g.later(0.1);
    const least = await tea("Ada", "black");
    g.later(0.1);
    for (const kind of ["green", "red", "blue"]) await tea("Ada", kind);
    const asked = { mode: "keyword" };
    const answer = await why(g, least, "tea noon", { ...asked, limit: 4 });
    expectOut(answer, "variety", /subject ada stands before it.*from place 4 to 5; 4 are shown/);
    expect(answer).toMatchObject({ place: 5, of: 5 });
    expectShown(await why(g, least, "tea noon", { ...asked, limit: 5 }), /place 5 of 5/);
    const oldest = await why(g, white, "tea noon", { ...asked, limit: 3 });
    expectOut(
      oldest,
      "place",
      /place 5 of 5.*moves up to 4 for variety; 3 are shown, the last with the same score: of equals the newer comes first/,
    );
  });

  it("no common word and far in meaning: how far", async () => {
    const g = guest();
    const far = await episode(g, "Quarterly tax declaration handed in at the counter");
    const episodes = Array.from({ length: 80 }, (_, n) => ({ content: `The kitten played with ball number ${n}` }));
    await g.call("memory_ingest_batch", { episodes });
    const answer = await why(g, far, "a kitten plays with balls");
    expectOut(
      answer,
      "found",
      /shares none with the question\. By meaning: its cosine is .*place 81 of 81; the nearest 40/,
    );
    expect(answer.place).toBeNull();
    expect(answer).not.toHaveProperty("explain");
    const hidden = await why(g, far, "kitten", { mode: "keyword" });
    expectOut(hidden, "found", /shares none.*Meaning is not compared in mode keyword/);
    const rare = await episode(g, `A kitten, and then ${"many other matters of the house, ".repeat(20)}`);
    expectOut(
      await why(g, rare, "kitten played ball number", { mode: "keyword", min_relevance: 0 }),
      "place",
      /place \d+ of 81.* 20 are shown/,
    );
    expectOut(
      await why(g, rare, "kitten played ball number", { mode: "keyword" }),
      "relevance",
      /fits the question 0\.\d+.*below the floor is not returned: min_relevance is 0\.200/,
    );
  });

  it("brought in beside a turn that was found", async () => {
    const g = guest();
    const talk = (content: string) => ({ content, session_id: "talk" });
    const filler = Array.from({ length: 80 }, (_, n) => ({ content: `The kitten played with ball number ${n}` }));
    const { results } = await g.call("memory_ingest_batch", {
      episodes: [talk("Zanzibar was splendid, we walked for days"), talk("Quarterly tax declaration"), ...filler],
    });
    const answer = await why(g, results[1].id, "kitten ball zanzibar");
    expectShown(answer, /^It is shown at place \d+ of \d+: found beside a turn of its session that was found/);
    expect(answer.explain).toMatchObject({ keyword_rank: null, semantic_rank: null });
  });

  it("context: shown, in which section, and said once", async () => {
    const g = guest();
    const ids = [await episode(g, "The build is green", { session_id: "a" })];
    g.later(0.1);
    ids.push(await episode(g, "the Build is GREEN.", { session_id: "b" }));
    const name = await fact(g, "name", "Ada", { permanence: "permanent", importance: 10 });
    const asked = { for: "context" };
    const answers = await Promise.all(ids.map((id) => why(g, id, "Is the build green?", asked)));
    const shown = answers.find((answer) => answer.shown) as Answer;
    const said = answers.find((answer) => !answer.shown) as Answer;
    expectShown(shown, /shown in “Earlier” at place 1 of 1: found by its words/);
    expect(shown).toMatchObject({ for: "context", limit: null });
    expectOut(said, "said", new RegExp(`already said in “Earlier” by ${shown.id}`));
    expectShown(await why(g, name, "Is the build green?", asked), /shown in “Always” at place 1: it is lasting/);
  });

  it("context: no room, too long, and out of a full profile", async () => {
    const g = guest();
    const traits: string[] = [];
    for (let n = 0; n < 12; n++)
      traits.push(
        await fact(g, `trait ${n}`, `Has the lasting trait that is numbered ${n}`, {
          permanence: "permanent",
          importance: 9,
        }),
      );
    const cats: string[] = [];
    for (let n = 0; n < 12; n++) cats.push(await fact(g, `cat ${n}`, `A cat that sleeps in room number ${n}`));
    const long = await fact(g, "story", `The cat ${"sat and sat and ".repeat(300)}`);
    const asked = { for: "context", token_budget: 250 };
    const query = "cat";
    expectOut(await why(g, long, query, asked), "room", /needs \d+ tokens and the whole section has \d+\.$/);
    const fates = await Promise.all(cats.map((id) => why(g, id, query, asked)));
    const out = fates.filter(({ shown }) => !shown);
    expect(out.length).toBeGreaterThan(0);
    expect(out.length).toBeLessThan(cats.length);
    for (const answer of out)
      expectOut(
        answer,
        "room",
        /In “Facts” it is place \d+ of \d+(, but it needs \d+ tokens and \d+ of|; the section was closed)/,
      );
    const lasting = await Promise.all(traits.map((id) => why(g, id, query, asked)));
    const crowded = lasting.filter(({ shown }) => !shown);
    expect(crowded.length).toBeGreaterThan(0);
    for (const answer of crowded) expectOut(answer, "profile", /In “Always” it is place \d+ of 12/);
    expectShown(await why(g, cats[0] as string, query, { for: "context" }), /in “Facts” at place/);
  });

  it("agrees with every search and every context, memory by memory", async () => {
    const g = guest();
    const ids = [
      await fact(g, "pet", "A cat called Turing", { tags: ["pets"], importance: 9, permanence: "stable" }),
      await fact(g, "pet", "Another cat called Ada", { scope: "general" }),
      await fact(g, "mood", "Cheerful like a cat", { permanence: "ephemeral" }),
      await fact(g, "bank", "Sparkasse", { tags: ["money"] }),
      (await g.call("memory_store_rule", { content: "Ask about the cat before smalltalk", tags: ["pets"] })).id,
      (await g.call("memory_store", { content: "The cat's passport lies in the drawer", tier: "long" })).id,
    ];
    for (const n of [1, 2, 3, 4, 5])
      ids.push(await episode(g, `The cat did trick ${n}`, { session_id: "tricks", speaker: n % 2 ? "Ada" : "Grace" }));
    ids.push(await episode(g, "Did the cat do a trick?", { session_id: "tricks", speaker: "Grace" }));
    g.later(3);
    const queries = ["cat trick", "What did Ada say about the cat?", "money in the bank"];
    const filters = [{}, { limit: 2 }, { limit: 4, rank: "composite" }, { tags: ["pets"] }, { tier: "eden" }];
    const modes = [{ mode: "semantic" }, { mode: "keyword" }, { types: ["fact"] }, { min_confidence: 0.9 }];
    for (const query of queries) {
      for (const extra of [...filters, ...modes]) {
        const answers: Answer[] = [];
        for (const id of ids) answers.push(await why(g, id, query, extra));
        const { results } = await g.call("memory_search", { query, ...extra, explain: true });
        await g.settled();
        const shown = answers.filter((answer) => answer.shown).toSorted((a, b) => (a.place ?? 0) - (b.place ?? 0));
        expect(
          shown.map(({ id }) => id),
          `${query} ${JSON.stringify(extra)}`,
        ).toEqual(results.map((result: { id: string }) => result.id));
        for (const answer of answers) expect(answer.shown).toBe(answer.steps.every(({ ok }) => ok));
      }
      for (const token_budget of [60, 120, 3000]) {
        const answers: Answer[] = [];
        for (const id of ids) answers.push(await why(g, id, query, { for: "context", token_budget }));
        const { sections } = await g.call("memory_context", { trigger_prompt: query, token_budget });
        await g.settled();
        const inside = sections.flatMap((section: { items: { id: string }[] }) => section.items.map(({ id }) => id));
        const shown = answers.filter((answer) => answer.shown).map(({ id }) => id);
        expect(shown.toSorted(), `${query} ${token_budget}`).toEqual(inside.toSorted());
      }
    }
  });

  it("writes nothing and counts no reference", async () => {
    const g = guest();
    const id = await fact(g, "pet", "A cat called Turing");
    const before = [await g.row("facts", id), await g.events()];
    await why(g, id, "cat");
    await why(g, id, "cat", { for: "context" });
    await g.settled();
    expect([await g.row("facts", id), await g.events()]).toEqual(before);
  });

  it("refuses what the other kind of answer does not know", async () => {
    const g = guest();
    const id = await fact(g, "pet", "A cat called Turing");
    const asked = { id, query: "cat" };
    expect(await g.refused("memory_why", { ...asked, token_budget: 100 })).toMatchObject({ field: "token_budget" });
    expect(await g.refused("memory_why", { ...asked, for: "context", limit: 3 })).toMatchObject({ field: "limit" });
    expect(await g.refused("memory_why", { id, query: "x".repeat(4001) })).toMatchObject({ field: "query" });
    expectShown(await why(g, id, `cat ${"x".repeat(4001)}`, { for: "context" }), /“Facts”/);
  });
});

onOneRig(
  "why without a model",
  (guest) => {
    it("goes by words alone and says so", async () => {
      const g = guest();
      const cat = await fact(g, "pet", "A cat called Turing");
      const found = await why(g, cat, "cat");
      expectShown(found, /found by its words \(place 1\)/);
      expect(found.degraded).toMatch(/no embedding model/);
      const answer = await why(g, cat, "feline companion");
      expectOut(answer, "found", /shares none with the question\. By meaning: there is no embedding model/);
      expect(answer.of).toBe(0);
      expectShown(await why(g, cat, "feline cats", { mode: "semantic" }), /found by its words/);
      expectOut(await why(g, cat, "feline", { for: "context" }), "found", /there is no embedding model/);
    });
  },
  { model: false },
);
