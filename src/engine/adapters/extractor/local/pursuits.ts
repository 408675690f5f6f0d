/** What somebody does and strives for over a longer time. */
import { COUNT, countOf, dayWords } from "./dates.ts";
import { type Clause, type Draft, draft } from "./draft.ts";
import { keyOf, phrase, thirdPerson } from "./phrases.ts";
import { attribute, named } from "./subject.ts";

const ONGOING =
  /^(?:am|is|are|have been|has been) (reading|working on|researching|training for|preparing for|prepping for|writing|building|taking|saving (?:up )?for|studying for|looking for|applying (?:for|to)|volunteering at|practicing|practising|rehearsing|organi[sz]ing|renovating|teaching|mentoring|launching|expanding|migrating|developing|designing|running for|running|interning at|recovering from|offering|hosting|selling|putting together|creating|volunteering as|volunteering for|mentoring|starting|opening|wrapping up|setting up|turning|brainstorming|exploring|learning|making|painting|helping out (?:at|with)) (.+)$/i;
const WANTS =
  /^(?:(?:am|is) (?:hoping|aiming|determined)|wants?|dreams? of|hope|hopes) (?:to )?((?:become|becoming|learn|move to|study|open|start|travel to|visit|run a|write a|adopt|buy a|get a (?:dog|cat|degree|job)|build a|work (?:as|in|with)|create a|pursue|launch|teach|improve|get into|get stronger|run for|turn)\b.*)$/i;
const FREQUENCY =
  "(?:every (?:single )?(?:day|morning|evening|night|week|weekend|month|year|summer|winter|spring|autumn|fall|\\p{Lu}\\p{Ll}+day)|(?:once|twice|three times|four times|five times) (?:a|per) (?:day|week|month|year)|on (?:\\p{Lu}\\p{Ll}+days|weekends|weekdays)|daily|weekly)";
const HABIT = new RegExp(
  `^(run|go|swim|walk|jog|cycle|bike|hike|meditate|practise|practice|play|read|cook|volunteer|paint|write|train|exercise|work out|do|take|attend|visit|call|drink|eat|wake up|get up|meet|teach|work|travel|fast|journal|deploy|release|back up)\\b(.*?) (${FREQUENCY})\\b(.*)$`,
  "iu",
);
const FOR_YEARS = new RegExp(
  `^(?:have|has) been (\\p{L}+ing\\b.*?|married|vegan|vegetarian|sober|together) for (?:about |over |around |almost |nearly |more than )?(${COUNT}) (years|months)\\b`,
  "iu",
);
const FORMERLY =
  /^used to ((?:live|work|play|compete|run|teach|own|study|be an?|drive|smoke|go|do|love|dance|write|volunteer)\b.*)$/i;

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
  if (
    object === undefined ||
    /^(?:thinking|feeling|waiting|trying|looking|wanting|dreaming|going through|dealing)\b/i.test(object)
  )
    return [];
  const year = Number(clause.day.slice(0, 4)) - (match[3] === "years" ? count : 0);
  const from = match[3] === "years" ? `${year}-01-01` : null;
  return [
    draft(clause, {
      predicate: attribute(clause, `since:${keyOf(object)}`),
      content: `As of ${dayWords(clause.day)}, ${named(clause)} has been ${object} for ${match[2]} ${match[3]}`.replace(
        "The user",
        "the user",
      ),
      permanence: "stable",
      importance: 6,
      confidence: 0.85,
      valid_from: from,
    }),
  ];
}

const VAGUE =
  /^(?:some |new |different |more |many |their |the |an? |with |from |on )*(?:options|ideas|ways|plans|things|places|progress|sure|sense|changes|excuses|project|projects|app|application|website|site|feature|problem|problems|code|task|issue|bug|assignment|scratch|exercises|examples|file|function|script|page|answer|solution|questions)$/i;

function ongoing(clause: Clause): Draft[] {
  const match = ONGOING.exec(clause.rest);
  if (match === null || clause.when !== undefined || (clause.plural && clause.among && clause.company === ""))
    return [];
  const verb = (match[1] ?? "").toLowerCase();
  const object = phrase(match[2] ?? "", { words: 14 });
  if (object === undefined || object.length < 4 || VAGUE.test(object)) return [];
  if (/^(?:starting|opening|making|creating)$/.test(verb) && !/^(?:an?|my|our|their|two|three) /.test(object))
    return [];
  if (!clause.among && /^(?:building|writing|designing|developing)$/.test(verb) && !/^(?:an?|their) /.test(object))
    return [];
  // With an agent "I am making" and "creating" tell the task of the hour.
  if (!clause.among && /^(?:making|creating|turning|setting up|wrapping up|running)$/.test(verb)) return [];
  if (
    /^(?:taking|running|looking for)$/.test(verb) &&
    !/\b(?:class|classes|course|courses|lessons|medication|workshop|business|company|store|shop|studio|job|house|flat|apartment|marathon|investors|work|internship)\b/i.test(
      object,
    )
  )
    return [];
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
  if (
    object === undefined ||
    clause.company !== "" ||
    /^(?:learn|study|create|start|open|build|visit)(?: (?:more|a new file|from|by|up|off|how)\b.*)?$/.test(object)
  )
    return [];
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

function formerly(clause: Clause): Draft[] {
  const object = phrase(FORMERLY.exec(clause.rest)?.[1] ?? "", { words: 12 });
  if (object === undefined || !object.includes(" ") || clause.company !== "") return [];
  return [
    draft(clause, {
      predicate: attribute(clause, `formerly:${keyOf(object)}`),
      content: `${named(clause)} used to ${object}`,
      permanence: "stable",
      importance: 4,
      confidence: 0.85,
    }),
  ];
}

export function pursuits(clause: Clause): Draft[] {
  if (/^(?:my|our) /i.test(clause.rest)) return [];
  for (const find of [forYears, habits, ongoing, wants, formerly]) {
    const found = find(clause);
    if (found.length > 0) return found;
  }
  return [];
}
