import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { INTENTS, type Intent, readIntent, routed, SURE, typeLean } from "../../src/engine/domain/ranking/intent.ts";

const LABELLED: Readonly<Record<Intent, readonly string[]>> = {
  identity: [
    "Who is Grace?",
    "who's my dentist",
    "What is my sister's name?",
    "Where does Alan live these days?",
    "What does Ada do for a living?",
    "What does Grace do?",
    "How old is my niece now?",
    "Where is Edsger from?",
    "What do you know about me?",
    "Does Barbara have any children?",
    "Which company does Donald work for?",
    "Is Hedy married?",
    "Where does Ren\u00e9 live?",
    "What's Ada's email address?",
    "Whose brother is Alan?",
    "Who are my neighbours?",
    "Remind me of my boss's name.",
    "How many siblings does Grace have?",
    "How is Ada related to Byron?",
    "What languages does Katherine speak?",
    "where did Alan grow up",
    "Write a birthday card. What is my mother's first name?",
  ],
  preference: [
    "What is my favourite colour?",
    "Which tea does Ada prefer?",
    "Do I like spicy food?",
    "How do I like my coffee?",
    "Would Grace rather fly or take the train?",
    "What kind of music does Alan enjoy?",
    "Does she still hate coriander?",
    "Tell me Ada's favorite author.",
    "What are my preferences for code reviews?",
    "Book a table for Friday; remember that I prefer a quiet corner.",
    "Is Alan fond of chess?",
    "Which theme do I want in the editor?",
    "What does Grace think of early meetings?",
    "Order me my usual, please.",
    "Suggest some books I might enjoy.",
    "What is her taste in films?",
    "I'd rather have the window seat.",
    "Does my brother like surprises?",
    "Who does not like mushrooms? I think they prefer olives.",
    "Find a gift for Barbara, something she would love.",
  ],
  procedure: [
    "How do I deploy the website?",
    "How to reset the router",
    "What are the steps to publish a release?",
    "Fix the failing test in the parser.",
    "Should I squash commits before merging?",
    "What is our convention for branch names?",
    "Which command runs the linter?",
    "Walk me through setting up the database.",
    "please refactor the login module",
    "What do I do when the build is red?",
    "Is it okay to push to main?",
    "Do we need to sign our commits?",
    "What's the best way to roll back a migration?",
    "Can you implement pagination for the user list?",
    "Add a unit test for the date parser.",
    "How are we supposed to name feature flags?",
    "Deploy the new version to staging and tell me when it is up.",
    "What is the policy on overtime?",
    "Debug this crash:\n```\nError: when did it happen, yesterday?\n```",
    "How should we handle errors in the API?",
    "I need the checklist for onboarding.",
    "Run the whole test suite.",
  ],
  event: [
    "When did we move to Hamburg?",
    "What happened at the party?",
    "What did Ada say about the budget?",
    "When was the last release?",
    "Did Grace call yesterday?",
    "What did we decide in the last meeting?",
    "Which day is the concert?",
    "Why did the deployment fail last night?",
    "Have we ever been to Lisbon?",
    "Who came to dinner on Saturday?",
    "What went wrong the last time we upgraded?",
    "How long ago was the flood?",
    "Summarise what we discussed this morning.",
    "What was I working on two weeks ago?",
    "Do you remember when Alan broke his arm?",
    "What was shipped on 2025-11-03 or earlier?",
    "When is the dentist appointment?",
    "Where did we go on holiday in 2023?",
    "How did the interview go?",
    "What happened after the server crashed?",
    "When will the lease end?",
  ],
  other: [
    "",
    "hello",
    "Thanks, that is all.",
    "Translate this paragraph into French.",
    "Summarise the attached report in three sentences.",
    "Write a poem about the sea.",
    "What is the capital of Peru?",
    "What does this function return?",
    "Explain the difference between a process and a thread.",
    "Would you like me to continue?",
    "Is 91 a prime number?",
    "The quick brown fox jumps over the lazy dog.",
    "A list of ideas for the weekend",
    "Add milk to the shopping list.",
    "Did you know that octopuses have three hearts?",
    "What do you think about this paragraph?",
    "Wie heißt meine Schwester?",
    "Compare these two contracts and list the differences.",
    "Draw a diagram of the data flow.",
    "Proofread the letter, rather carefully.",
    "What happens if I divide by zero?",
    "The name of the file is wrong in the title.",
    "Release notes for version 2",
  ],
};

const cases = INTENTS.flatMap((label) => LABELLED[label].map((text) => ({ label, text })));
const weights = { relevance: 0.4, importance: 0.3, recency: 0.2, confidence: 0.1 };
const quotas = { profile: 0.25, facts: 0.35, rules: 0.2, episodes: 0.2 };
const sum = (shares: object): number => Object.values(shares).reduce((a, b) => a + b, 0);
const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 400 }),
  fc.array(fc.constantFrom(...cases.flatMap(({ text }) => text.split(" "))), { maxLength: 60 }).map((w) => w.join(" ")),
);

describe("reading an intent", () => {
  it("agrees with the labels, and hardly ever claims what is not there", () => {
    const read = cases.map(({ label, text }) => ({ label, text, got: readIntent(text).intent }));
    const wrong = read.filter(({ label, got }) => label !== got);
    expect(cases.length).toBeGreaterThanOrEqual(80);
    expect(1 - wrong.length / read.length, JSON.stringify(wrong, null, 1)).toBeGreaterThanOrEqual(0.9);
    for (const intent of INTENTS) {
      expect(LABELLED[intent].length).toBeGreaterThanOrEqual(15);
      if (intent === "other") continue;
      const claimed = read.filter(({ got }) => got === intent);
      const right = claimed.filter(({ label }) => label === intent).length;
      expect(right / claimed.length, intent).toBeGreaterThanOrEqual(0.9);
    }
  });

  it("says which words it went by", () => {
    expect(readIntent("What\u2019s my favourite tea?").because).toEqual(["favourite"]);
    expect(readIntent("When did we meet Ada last summer?")).toMatchObject({
      intent: "event",
      because: ["when did", "last summer"],
    });
  });

  it("stays out of it when two intents speak equally loud", () => {
    expect(readIntent("How do I deploy, and when did we deploy last time?")).toEqual({
      intent: "other",
      confidence: 0,
      because: [],
    });
  });

  it("reads over line breaks, and neither fenced code nor what comes after the first 4000 characters", () => {
    expect(readIntent("What is my\n   sister's name?").intent).toBe("identity");
    expect(readIntent("Look at this:\n```\nhow do I deploy\n```\nThank you.").intent).toBe("other");
    expect(readIntent(`${"la ".repeat(1200)}\nHow do I deploy?`).intent).toBe("procedure");
    expect(readIntent(`${"la ".repeat(1400)}\nHow do I deploy?`).intent).toBe("other");
  });

  it("answers for any string, always the same, and claims an intent only with words to show", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const read = readIntent(text);
        expect(readIntent(text)).toEqual(read);
        expect(INTENTS).toContain(read.intent);
        expect(read.confidence).toBeLessThanOrEqual(1);
        expect(read.because.length > 0).toBe(read.intent !== "other");
        if (read.intent === "other") expect(read.confidence).toBe(0);
        else expect(read.confidence).toBeGreaterThanOrEqual(SURE);
        for (const words of read.because) expect(words).toMatch(/^\S(?:.{0,58}\S)?$/);
      }),
    );
  });
});

describe("routing", () => {
  const share = fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1, noNaN: true }));
  const anyWeights = fc.record({ relevance: share, importance: share, recency: share, confidence: share });
  const anyQuotas = fc.record({ profile: share, facts: share, rules: share, episodes: share });
  const anyIntent = fc.constantFrom(...INTENTS);

  it("moves shares and makes none: sums stay, nothing leaves 0..1, what is switched off stays off", () => {
    fc.assert(
      fc.property(anyWeights, anyQuotas, anyIntent, (w, q, intent) => {
        const to = routed(w, q, intent);
        expect(sum(to.weights)).toBeCloseTo(sum(w), 12);
        expect(sum(to.quotas)).toBeCloseTo(sum(q), 12);
        const before = Object.values({ ...w, ...q });
        for (const [i, value] of Object.values({ ...to.weights, ...to.quotas }).entries()) {
          expect(value).toBeGreaterThanOrEqual(0);
          expect(value).toBeLessThanOrEqual(1);
          if (before[i] === 0) expect(value).toBe(0);
        }
      }),
    );
  });

  it("never touches relevance, nor the profile that a prompt cache rests on", () => {
    fc.assert(
      fc.property(anyWeights, anyQuotas, anyIntent, (w, q, intent) => {
        const to = routed(w, q, intent);
        expect(to.weights.relevance).toBe(w.relevance);
        expect(to.quotas.profile).toBe(q.profile);
      }),
    );
  });

  it("changes nothing at all for other", () => {
    fc.assert(
      fc.property(anyWeights, anyQuotas, (w, q) => {
        expect(routed(w, q, "other")).toEqual({ weights: w, quotas: q });
      }),
    );
    expect(typeLean("other")).toEqual({ fact: 0, rule: 0, episode: 0 });
  });

  it("gives rules, episodes or facts more room, and standing knowledge less haste", () => {
    const to = (intent: Intent) => routed(weights, quotas, intent);
    expect(to("procedure").quotas.rules).toBeCloseTo(0.35, 12);
    expect(to("procedure").weights).toEqual(weights);
    expect(to("event").quotas.episodes).toBeCloseTo(0.35, 12);
    expect(to("event").weights.recency).toBeCloseTo(0.25, 12);
    for (const intent of ["identity", "preference"] as const) {
      expect(to(intent).quotas.facts).toBeCloseTo(0.45, 12);
      expect(to(intent).weights.confidence).toBeCloseTo(0.15, 12);
      expect(to(intent).weights.recency).toBeCloseTo(0.15, 12);
    }
  });

  it.each([
    ["identity", "fact"],
    ["preference", "fact"],
    ["procedure", "rule"],
    ["event", "episode"],
  ] as const)("%s leans to the type %s, by 0.05 at most", (intent, type) => {
    const lean = typeLean(intent);
    expect(Math.max(...Object.values(lean))).toBe(lean[type]);
    expect(lean[type]).toBeGreaterThan(0);
    for (const by of Object.values(lean)) {
      expect(by).toBeGreaterThanOrEqual(0);
      expect(by).toBeLessThanOrEqual(0.05);
    }
  });
});
