/** What somebody does, uses and strives for over a longer time, and what a group has decided. */
import { COUNT, countOf, dayWords } from "./dates.ts";
import { type Clause, type Draft, draft } from "./draft.ts";
import { attribute, named } from "./identity.ts";
import { keyOf, listed, phrase, thirdPerson } from "./phrases.ts";

const ONGOING =
  /^(?:am|is|are|have been|has been) (reading|working on|researching|training for|preparing for|prepping for|writing|building|taking|saving (?:up )?for|studying for|looking for|applying (?:for|to)|volunteering at|practicing|practising|rehearsing|organi[sz]ing|renovating|teaching|mentoring|launching|expanding|migrating|developing|designing|running for|running|interning at|recovering from|offering|hosting|selling|putting together|creating|volunteering as|volunteering for|mentoring|exploring|learning|making|painting|helping out (?:at|with)) (.+)$/i;
const WANTS = /^(?:(?:am|is) (?:hoping|aiming|determined)|wants?|dreams? of|hope|hopes) (?:to )?((?:become|becoming|learn|move to|study|open|start|travel to|visit|run a|write a|adopt|buy a|get a (?:dog|cat|degree|job)|build a|work (?:as|in|with)|create a|pursue|launch|teach)\b.*)$/i;
const FREQUENCY =
  "(?:every (?:single )?(?:day|morning|evening|night|week|weekend|month|year|summer|winter|spring|autumn|fall|\\p{Lu}\\p{Ll}+day)|(?:once|twice|three times|four times|five times) (?:a|per) (?:day|week|month|year)|on (?:\\p{Lu}\\p{Ll}+days|weekends|weekdays)|daily|weekly)";
const HABIT = new RegExp(`^(run|go|swim|walk|jog|cycle|bike|hike|meditate|practise|practice|play|read|cook|volunteer|paint|write|train|exercise|work out|do|take|attend|visit|call|drink|eat|wake up|get up|meet|teach|work|travel|fast|journal|deploy|release|back up)\\b(.*?) (${FREQUENCY})\\b(.*)$`, "iu");
const FOR_YEARS = new RegExp(`^(?:have|has) been (\\p{L}+ing\\b.*?|married|vegan|vegetarian|sober|together) for (?:about |over |around |almost |nearly |more than )?(${COUNT}) (years|months)\\b`, "iu");
const USES = /^(?:uses?|am using|is using|are using|have been using|rely on|code in|program in|write (?:most of my code|everything) in) (.+)$/i;
const PLATFORM = /^(?:am|is|are) (?:on|running) (?:an? )?((?:mac\b|macos|windows|linux|ubuntu|debian|fedora|arch|nixos|android|ios|iphone|chromeos|m\d mac)[\p{L}\p{N} .]*)$/iu;

function habits(clause: Clause): Draft[] {
  const match = HABIT.exec(clause.rest);
  if (match === null || clause.relative !== null || clause.when !== undefined) return [];
  const raw = (match[2] ?? "").trim();
  const object = raw === "" ? "" : phrase(raw, { strict: true, words: 8 });
  if (object === undefined) return [];
  const [verb = "", ...particle] = (match[1] ?? "").toLowerCase().split(" ");
  const act = `${clause.company === "" ? thirdPerson(verb) : verb} ${[...particle, object].join(" ")}`.trim();
  return [
    draft(clause, {
      predicate: `habit:${keyOf(`${match[1]} ${object}`)}`,
      content: `${named(clause)} ${act} ${match[3]}`,
      permanence: "standard",
      confidence: 0.85,
      turns: true,
    }),
  ];
}

function forYears(clause: Clause): Draft[] {
  const match = FOR_YEARS.exec(clause.rest);
  const count = countOf(match?.[2] ?? "");
  if (match === null || !(count > 0) || clause.company !== "") return [];
  const object = phrase(match[1] ?? "", { words: 10 });
  if (object === undefined || /^(?:thinking|feeling|waiting|trying|looking|wanting|dreaming|going through|dealing)\b/i.test(object)) return [];
  const year = Number(clause.day.slice(0, 4)) - (match[3] === "years" ? count : 0);
  const from = match[3] === "years" ? `${year}-01-01` : null;
  return [
    draft(clause, {
      predicate: attribute(clause, `since:${keyOf(object)}`),
      content: `As of ${dayWords(clause.day)}, ${named(clause)} has been ${object} for ${match[2]} ${match[3]}`.replace("The user", "the user"),
      permanence: "stable",
      importance: 6,
      confidence: 0.85,
      valid_from: from,
    }),
  ];
}

function ongoing(clause: Clause): Draft[] {
  const match = ONGOING.exec(clause.rest);
  if (match === null || clause.when !== undefined || (clause.plural && clause.among && clause.company === "")) return [];
  const verb = (match[1] ?? "").toLowerCase();
  const object = phrase(match[2] ?? "", { words: 14 });
  if (object === undefined || object.length < 4) return [];
  if (/^(?:taking|running|looking for)$/.test(verb) && !/\b(?:class|classes|course|courses|lessons|medication|workshop|business|company|store|shop|studio|job|house|flat|apartment|marathon|investors|work|internship)\b/i.test(object)) return [];
  if (/^(?:taking|having) (?:a )?(?:care|break|time|steps?)\b/.test(`${verb} ${object}`)) return [];
  const has = /^(?:have|has) been/i.test(clause.rest);
  const be = clause.company === "" ? "is" : "are";
  return [
    draft(clause, {
      predicate: attribute(clause, `${verb.replace(/ /g, "_")}:${keyOf(object)}`),
      content: `${named(clause)} ${has && be === "is" ? "has been" : be} ${verb} ${object}`,
      permanence: "volatile",
      confidence: 0.85,
    }),
  ];
}

function wants(clause: Clause): Draft[] {
  const object = phrase(WANTS.exec(clause.rest)?.[1] ?? "", { words: 14 });
  if (object === undefined || clause.company !== "" || /^(?:learn|study|create|start|open|build|visit) (?:more|a new file|from|by|up|off)?$/.test(object)) return [];
  if (!clause.among && /^(?:create|build|start|open|write|launch|run)\b/.test(object)) return [];
  const acts = object.replace(/^becoming/, "become");
  return [
    draft(clause, {
      predicate: attribute(clause, `goal:${keyOf(acts)}`),
      content: `${named(clause)} wants to ${acts}`,
      permanence: "standard",
      confidence: 0.8,
    }),
  ];
}

function uses(clause: Clause): Draft[] {
  const platform = PLATFORM.exec(clause.rest)?.[1];
  if (platform !== undefined && clause.relative === null)
    return [draft(clause, { predicate: "platform", content: `${named(clause)} works on ${platform}`, permanence: "stable", importance: 6, value: platform })];
  const raw = USES.exec(clause.rest)?.[1];
  if (raw === undefined || clause.relative !== null || clause.among) return [];
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
        predicate: whatFor === undefined ? `uses:${keyOf(each)}` : `uses_for:${keyOf(whatFor)}`,
        content: `${group ? "The project" : named(clause)} uses ${each}${whatFor === undefined ? "" : ` ${link} ${whatFor}`}`,
        permanence: "stable",
        confidence: 0.85,
        importance: 6,
        value: each,
      }),
    ),
  ];
}

const DECIDED = /^(?:have |has )?(?:finally )?(?:decided|agreed|settled|chose|opted)(?: (that)| (to)| (on)| (for)| against)? (.+)$/i;
const GO_WITH = /^let(?:'s| us) (?:go with|stick with|stick to|use|switch to|settle on) (.+)$/i;

function decided(clause: Clause, words: string, said: string): Draft {
  const topic = /\bfor (?:the |our |their |all )?([\p{L}\p{N} _-]{2,40})$/iu.exec(said)?.[1] ?? said;
  const group = clause.plural && !clause.among;
  return draft(clause, {
    ...(group ? { subject: "project", scope: "own" as const } : {}),
    predicate: `decision:${keyOf(topic)}`,
    content: `${group ? "The team" : named(clause)} ${words}`,
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
  const said = phrase(raw, { words: 20 });
  if (said === undefined || said.split(" ").length < 2 && match[2] !== undefined) return [];
  if (/\bagainst\b/.test(clause.rest.slice(0, 30)))
    return [decided(clause, `decided against ${said}`, said)];
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

export function pursuits(clause: Clause): Draft[] {
  if (/^(?:my|our) /i.test(clause.rest)) return [];
  for (const find of [forYears, habits, ongoing, wants, uses]) {
    const found = find(clause);
    if (found.length > 0) return found;
  }
  return [];
}
