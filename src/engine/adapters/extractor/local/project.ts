/** What is used, and what has been decided: of a project when "we" say it, of a person otherwise. */
import { type Clause, type Draft, draft } from "./draft.ts";
import { keyOf, listed, phrase, thirdPerson } from "./phrases.ts";
import { named } from "./subject.ts";

const USES =
  /^(?:uses?|am using|is using|are using|have been using|rely on|code in|program in|write (?:most of my code|everything) in) (.+)$/i;
const PLATFORM =
  /^(?:am|is|are) (?:on|running) (?:an? )?((?:mac\b|macos|windows|linux|ubuntu|debian|fedora|arch|nixos|android|ios|iphone|chromeos|m\d mac)[\p{L}\p{N} .]*)$/iu;

/** A new version of a tool replaces the old one. */
const tool = (name: string) => keyOf(name).replace(/ v?\d+(?:\.\d+)*$/, "");

export function uses(clause: Clause): Draft[] {
  const platform = phrase(PLATFORM.exec(clause.rest)?.[1] ?? "", { words: 6 });
  if (platform !== undefined && clause.relative === null)
    return [
      draft(clause, {
        predicate: "platform",
        content: `${named(clause)} works on ${platform}`,
        permanence: "stable",
        importance: 6,
        value: platform,
      }),
    ];
  const raw = USES.exec(clause.rest)?.[1];
  if (raw === undefined || clause.relative !== null || clause.among || /^(?:my|our) /i.test(clause.rest)) return [];
  const [, what = raw, purpose] = /^(.+?) (?:for|as) (.+)$/i.exec(raw) ?? [];
  const object = phrase(what, { strict: true, words: 7 });
  if (object === undefined || !/^(?:the |an? )?["`]?[\p{L}\p{N}]/u.test(object)) return [];
  const whatFor = purpose === undefined ? undefined : phrase(purpose, { strict: true, words: 7 });
  if (purpose !== undefined && whatFor === undefined) return [];
  const link = / as /i.test(raw) ? "as" : "for";
  const group = clause.plural;
  return [
    ...(whatFor === undefined ? listed(object) : [object]).map((each) =>
      draft(clause, {
        ...(group ? { subject: "project", scope: "own" as const } : {}),
        predicate: whatFor === undefined ? `uses:${tool(each)}` : `uses_for:${keyOf(whatFor)}`,
        content: `${group ? "The project" : named(clause)} uses ${each}${whatFor === undefined ? "" : ` ${link} ${whatFor}`}`,
        permanence: "stable",
        confidence: 0.85,
        importance: 6,
        value: each,
      }),
    ),
  ];
}

const DECIDED =
  /^(?:have |has )?(?:finally )?(?:decided|agreed|settled|chose|opted)(?: (that)| (to)| (on)| (for)| against)? (.+)$/i;
const GO_WITH = /^let(?:'s| us) (?:go with|stick with|stick to|use|switch to|settle on) (.+)$/i;

function decided(clause: Clause, words: string, said: string): Draft {
  const topic = /\bfor (?:the |our |their |all )?([\p{L}\p{N} _-]{2,40})$/iu.exec(said)?.[1] ?? said;
  const group = clause.plural && !clause.among;
  return draft(clause, {
    ...(group ? { subject: "project", scope: "own" as const } : {}),
    predicate: `decision:${keyOf(topic)}`,
    content: `${group ? "The team" : named(clause)} ${words} ${clause.when?.("future")?.words ?? ""}`,
    permanence: "stable",
    importance: 6,
    confidence: 0.9,
    turns: true,
  });
}

export function decisions(clause: Clause): Draft[] {
  const match = DECIDED.exec(clause.rest);
  if (match === null || clause.relative !== null) return [];
  const raw = match[5] ?? "";
  // "three components: a, b and c" is told by what follows the colon.
  const said = /:\s/.test(raw) ? undefined : phrase(raw, { words: 20 });
  if (said === undefined || (said.split(" ").length < 2 && match[2] !== undefined)) return [];
  if (/\bagainst\b/.test(clause.rest.slice(0, 30))) return [decided(clause, `decided against ${said}`, said)];
  const link = match.slice(1, 5).find((one) => one !== undefined);
  const verb = /^(?:have |has )?(?:finally )?(\p{L}+)/iu.exec(clause.rest)?.[1]?.toLowerCase() ?? "decided";
  if (link === undefined && verb !== "chose") return [];
  return [decided(clause, `${verb} ${link ?? ""} ${said}`, said)];
}

/** "Let's go with Postgres for the queue." Among friends "let's" is an invitation. */
export function resolve(text: string, clause: Clause): Draft[] {
  const match = GO_WITH.exec(text);
  const said = match === null || clause.among ? undefined : phrase(match[1] ?? "", { words: 12 });
  return said === undefined ? [] : [decided({ ...clause, plural: true }, `decided to use ${said}`, said)];
}

const PRACTICE =
  /^(always|never|do not|only) (deploy|release|commit|merge|push|squash|rebase|use|write|test|run|review|ship|tag|pin|mock|store|log|support|allow|publish|name|keep|build|lint|cache)\b (.+)$/i;

/** "We never deploy on Fridays": how a team works. */
export function practices(clause: Clause): Draft[] {
  const match = PRACTICE.exec(clause.rest);
  if (match === null || !clause.plural || clause.among || clause.when !== undefined) return [];
  const object = phrase(match[3] ?? "", { words: 14 });
  if (object === undefined) return [];
  const [how, verb] = [(match[1] ?? "").toLowerCase(), (match[2] ?? "").toLowerCase()];
  return [
    draft(clause, {
      subject: "project",
      scope: "own",
      predicate: `practice:${keyOf(`${verb} ${object}`)}`,
      content: `The team ${how === "do not" ? `does not ${verb}` : `${how} ${thirdPerson(verb)}`} ${object}`,
      permanence: "stable",
      importance: 6,
      turns: true,
    }),
  ];
}

const DONE_WITH =
  /^(deploy|host|build|test|ship|release|log|monitor|bundle|lint|format)\b((?: (?:everything|our \p{L}+|the \p{L}+))?) (via|on|with|using|through|to) (\p{Lu}.*|[a-z]+)$/u;
const OURS =
  /^(?:my|our) ((?:[\p{L}-]+ )?(?:api|backend|front ?end|app|service|codebase|website|project|cli|server|database|library)) (?:is|are) ((?:written|built|implemented|hosted|deployed|running) (?:in|on|with|using|at) .+)$/iu;

/** "We deploy via Buildkite", "our API is written in Go". */
export function means(clause: Clause): Draft[] {
  if (clause.among || clause.when !== undefined) return [];
  const ours = OURS.exec(clause.rest);
  const how = ours === null ? undefined : phrase(ours[2] ?? "", { strict: true, words: 8 });
  const of = { subject: "project", scope: "own", permanence: "stable", importance: 6 } as const;
  if (ours !== null && how !== undefined) {
    const what = `${ours[1]} ${/^\p{L}+/u.exec(how)?.[0]}`;
    return [
      draft(clause, {
        ...of,
        predicate: keyOf(what).replace(/ /g, "_"),
        content: `The project's ${ours[1]} is ${how}`,
      }),
    ];
  }
  const done = clause.plural ? DONE_WITH.exec(clause.rest) : null;
  const tool = done === null ? undefined : phrase(done[4] ?? "", { strict: true, words: 5 });
  if (done === null || tool === undefined) return [];
  const act = thirdPerson(done[1] ?? "");
  return [
    draft(clause, {
      ...of,
      predicate: `${act}_with`,
      content: `The team ${act}${(done[2] ?? "").replace(/\bour\b/, "its")} ${done[3]} ${tool}`,
      value: tool,
    }),
  ];
}
