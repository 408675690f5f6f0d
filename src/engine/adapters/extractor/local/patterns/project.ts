/** What is used, and what has been decided: of a project when "we" say it, of a person otherwise. */
import { type Clause, type Draft, draft } from "../draft.ts";
import { keyOf, listed, phrase, thirdPerson } from "../phrases.ts";
import { named, PROJECT } from "../subject.ts";
import type { Table } from "../table.ts";

function decided(clause: Clause, words: string, said: string): Draft {
  const topic = /\bfor (?:the |our |their |all )?([\p{L}\p{N} _-]{2,40})$/iu.exec(said)?.[1] ?? said;
  const group = clause.plural && !clause.betweenPeople;
  return draft(clause, {
    ...(group ? PROJECT : {}),
    predicate: `decision:${keyOf(topic)}`,
    content: `${group ? "The team" : named(clause)} ${words} ${clause.when?.("future")?.words ?? ""}`,
    permanence: "stable",
    importance: 6,
    confidence: 0.9,
    reverses: true,
  });
}

export const DECISIONS: Table = {
  kind: "decisions",
  applies: (clause) => clause.relative === null,
  rows: [
    {
      name: "decided",
      pattern:
        /^(?:have |has )?(?:finally )?(decided|agreed|settled|chose|opted)(?: (that|to|on|for)| against)? (.+)$/i,
      example: "We decided to use Postgres for the queue.",
      gives: "decision:queue = The team decided to use Postgres for the queue.",
      also: [
        { example: "I chose Rust.", gives: "decision:rust = The user chose Rust." },
        { example: "We decided against a rewrite.", gives: "decision:rewrite = The team decided against a rewrite." },
      ],
      not: ["We decided three things: colour, size and price.", "We decided that when the old office closed."],
      make: ([, said, link, raw], clause) => {
        // "three components: a, b and c" is told by what follows the colon.
        const what = /:\s/.test(raw) ? undefined : phrase(raw, { words: 20 });
        if (what === undefined || (what.split(" ").length < 2 && link.toLowerCase() === "to")) return [];
        // "that" stands for what was said before, and the rest says when.
        if (
          link.toLowerCase() === "that" &&
          /^(?:when|after|before|because|while|last|during|back|already)\b/i.test(what)
        )
          return [];
        const verb = said.toLowerCase();
        if (/\bagainst\b/.test(clause.rest.slice(0, 30))) return [decided(clause, `decided against ${what}`, what)];
        return link === "" && verb !== "chose" ? [] : [decided(clause, `${verb} ${link} ${what}`, what)];
      },
    },
  ],
};

/** "Let's …" names no subject. Between people it is an invitation, not a decision. */
export const RESOLUTIONS: Table = {
  kind: "resolutions",
  applies: (clause) => !clause.betweenPeople,
  rows: [
    {
      name: "let's use",
      pattern: /^let(?:'s| us) (?:go with|stick with|stick to|use|switch to|settle on) (.+)$/i,
      example: "Let's go with Redis for the cache.",
      gives: "decision:cache = The team decided to use Redis for the cache.",
      make: ([, raw], clause) => {
        const what = phrase(raw, { words: 12 });
        return what === undefined ? [] : [decided({ ...clause, plural: true }, `decided to use ${what}`, what)];
      },
    },
  ],
};

export const PRACTICES: Table = {
  kind: "practices",
  applies: (clause) => clause.plural && !clause.betweenPeople && clause.when === undefined,
  rows: [
    {
      name: "how a team works",
      pattern:
        /^(always|never|do not|only) (deploy|release|commit|merge|push|squash|rebase|use|write|test|run|review|ship|tag|pin|mock|store|log|support|allow|publish|name|keep|build|lint|cache)\b (.+)$/i,
      example: "We never deploy on Fridays.",
      gives: "practice:deploy on fridays = The team never deploys on Fridays.",
      make: ([, often, said, raw], clause) => {
        const object = phrase(raw, { words: 14 });
        if (object === undefined) return [];
        const [how, verb] = [often.toLowerCase(), said.toLowerCase()];
        return [
          draft(clause, {
            ...PROJECT,
            predicate: `practice:${keyOf(`${verb} ${object}`)}`,
            content: `The team ${how === "do not" ? `does not ${verb}` : `${how} ${thirdPerson(verb)}`} ${object}`,
            permanence: "stable",
            importance: 6,
            reverses: true,
          }),
        ];
      },
    },
  ],
};

const OF_PROJECT = { ...PROJECT, permanence: "stable", importance: 6 } as const;

export const MEANS: Table = {
  kind: "means",
  applies: (clause) => !clause.betweenPeople && clause.when === undefined,
  rows: [
    {
      name: "written in",
      pattern:
        /^(?:my|our) ((?:[\p{L}-]+ )?(?:api|backend|front ?end|app|service|codebase|website|project|cli|server|database|library)) (?:is|are) ((?:written|built|implemented|hosted|deployed|running) (?:in|on|with|using|at) .+)$/iu,
      example: "Our API is written in Go.",
      gives: "api_written = The project's API is written in Go.",
      make: ([, thing, raw], clause) => {
        const how = phrase(raw, { strict: true, words: 8 });
        if (how === undefined) return undefined;
        return [
          draft(clause, {
            ...OF_PROJECT,
            predicate: keyOf(`${thing} ${/^\p{L}+/u.exec(how)?.[0]}`).replace(/ /g, "_"),
            content: `The project's ${thing} is ${how}`,
          }),
        ];
      },
    },
    {
      name: "done with",
      pattern:
        /^(deploy|host|build|test|ship|release|log|monitor|bundle|lint|format)\b((?: (?:everything|our \p{L}+|the \p{L}+))?) (via|on|with|using|through|to) (\p{Lu}.*|[a-z]+)$/u,
      example: "We deploy via Buildkite.",
      gives: "deploys_with = The team deploys via Buildkite.",
      make: ([, verb, what, link, raw], clause) => {
        const tool = clause.plural ? phrase(raw, { strict: true, words: 5 }) : undefined;
        if (tool === undefined) return undefined;
        const act = thirdPerson(verb);
        return [
          draft(clause, {
            ...OF_PROJECT,
            predicate: `${act}_with`,
            content: `The team ${act}${what.replace(/\bour\b/, "its")} ${link} ${tool}`,
            value: tool,
          }),
        ];
      },
    },
  ],
};

/** A new version of a tool replaces the old one. */
const toolKey = (name: string) => keyOf(name).replace(/ v?\d+(?:\.\d+)*$/, "");

export const USES: Table = {
  kind: "uses",
  applies: (clause) => clause.relative === null,
  rows: [
    {
      name: "platform",
      pattern:
        /^(?:am|is|are) (?:on|running) (?:an? )?((?:mac\b|macos|windows|linux|ubuntu|debian|fedora|arch|nixos|android|ios|iphone|chromeos|m\d mac)[\p{L}\p{N} .]*)$/iu,
      example: "I'm on Windows 11.",
      gives: "platform = The user works on Windows 11.",
      make: ([, raw], clause) => {
        const platform = phrase(raw, { words: 6 });
        if (platform === undefined) return undefined;
        return [
          draft(clause, {
            predicate: "platform",
            content: `${named(clause)} works on ${platform}`,
            permanence: "stable",
            importance: 6,
            value: platform,
          }),
        ];
      },
    },
    {
      name: "uses",
      pattern:
        /^(?:uses?|am using|is using|are using|have been using|rely on|code in|program in|write (?:most of my code|everything) in) (.+)$/i,
      example: "I use Helix 25.",
      gives: "uses:helix = The user uses Helix 25.",
      also: [
        {
          example: "We use Postgres for billing.",
          gives: "uses_for:billing = The project uses Postgres for billing.",
        },
      ],
      make: ([, raw], clause) => {
        if (clause.betweenPeople) return undefined;
        const [, what = raw, purpose] = /^(.+?) (?:for|as) (.+)$/i.exec(raw) ?? [];
        const object = phrase(what, { strict: true, words: 7 });
        const whatFor = purpose === undefined ? undefined : phrase(purpose, { strict: true, words: 7 });
        if (object === undefined || !/^(?:the |an? )?["`]?[\p{L}\p{N}]/u.test(object)) return undefined;
        if (purpose !== undefined && whatFor === undefined) return undefined;
        const link = / as /i.test(raw) ? "as" : "for";
        return (whatFor === undefined ? listed(object) : [object]).map((each) =>
          draft(clause, {
            ...(clause.plural ? PROJECT : {}),
            predicate: whatFor === undefined ? `uses:${toolKey(each)}` : `uses_for:${keyOf(whatFor)}`,
            content: `${clause.plural ? "The project" : named(clause)} uses ${each}${whatFor === undefined ? "" : ` ${link} ${whatFor}`}`,
            permanence: "stable",
            confidence: 0.85,
            importance: 6,
            value: each,
          }),
        );
      },
    },
  ],
};
