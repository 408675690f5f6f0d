/** What is no longer so, and corrections of what was said just before. The new state has the key of the old one. */
import { type Clause, type Draft, draft } from "./draft.ts";
import { keyOf, PROPER, phrase, thirdPerson } from "./phrases.ts";
import { attribute, named } from "./subject.ts";

const NO_LONGER = /^(?:no longer|(?:do|does) not(?= .*\banymore\b))(?: really)? (\p{L}+)\b(.*?)(?: anymore)?$/iu;
const NOT_BE = /^(?:am|is) (?:no longer|not(?= .*\banymore\b)) (.+?)(?: anymore)?$/i;

/** The key under which the verb's positive statement would be found. */
function keyFor(verb: string, raw: string): { predicate: string; object: string } | undefined {
  const object = phrase(raw, { strict: true, words: 8 });
  if (object === undefined) return undefined;
  const of = keyOf(object.replace(/^(?:in|at|for|as) /, ""));
  if (verb === "live" || verb === "lives") return { predicate: "lives_in", object };
  if (/^works?$/.test(verb))
    return { predicate: /^as /.test(object) ? "occupation" : /^in /.test(object) ? "works_in" : "works_at", object };
  if (/^(?:like|love|enjoy)s?$/.test(verb)) return { predicate: `likes:${of}`, object };
  if (/^prefers?$/.test(verb)) return { predicate: `prefers:${of}`, object };
  if (/^(?:use|eat|drink|play|speak|teach|drive|own|run)s?$/.test(verb)) {
    const stem = verb.replace(/s$/, "").replace(/^teache$/, "teach");
    return {
      predicate: stem === "drive" ? "drives" : `${stem === "own" || stem === "run" ? "runs" : thirdPerson(stem)}:${of}`,
      object,
    };
  }
  return undefined;
}

const SWITCHED = /^(?:have |has )?(?:switched|migrated|changed|moved)(?: over)? from (.+?) to (.+)$/i;
const MOVED = new RegExp(`^(?:have |has )?moved(?: (?:away |over |here )?from (${PROPER}))? to (${PROPER})$`, "u");
const QUIT_JOB = /^(?:have |has )?(?:quit|left|resigned from|lost) (?:my|our) (job|position)(.*)$/i;
const STOPPED = /^(?:have |has )?(?:quit|stopped|gave up|given up) (smoking|drinking|\p{L}+ing)\b(.*)$/iu;

export function changes(clause: Clause): Draft[] {
  if (clause.company !== "" || /^(?:my|our) /i.test(clause.rest)) return [];
  const from = clause.when?.("past")?.from ?? null;
  const since = from !== null && from <= clause.day ? from : null;
  const at = since === null ? "" : (clause.when?.("past")?.words ?? "");
  const gone = NO_LONGER.exec(clause.rest);
  if (gone !== null) {
    const key = keyFor((gone[1] ?? "").toLowerCase(), gone[2] ?? "");
    if (key === undefined) return [];
    const verb = thirdPerson((gone[1] ?? "").toLowerCase().replace(/(?<=[a-z]{2})s$/, ""));
    return [
      draft(clause, {
        predicate: attribute(clause, key.predicate),
        content: `${named(clause)} no longer ${verb} ${key.object}`,
        permanence: "stable",
        importance: 6,
        confidence: 0.9,
        turns: true,
      }),
    ];
  }
  const not = phrase(NOT_BE.exec(clause.rest)?.[1] ?? "", { words: 6 });
  if (
    not !== undefined &&
    /^(?:an? )?(?:vegan|vegetarian|married|single|engaged|\p{L}+er|nurse|student)$/iu.test(not)
  ) {
    const predicate = /veg/i.test(not) ? "diet" : /married|single|engaged/i.test(not) ? "marital_status" : "occupation";
    return [
      draft(clause, {
        predicate: attribute(clause, predicate),
        content: `${named(clause)} is no longer ${not}`,
        permanence: "stable",
        importance: 7,
        turns: true,
      }),
    ];
  }
  const using = phrase(
    /^(?:am|is|are) (?:no longer|not(?= .*\banymore\b)) using (.+?)(?: anymore)?$/i.exec(clause.rest)?.[1] ?? "",
    { words: 6 },
  );
  if (using !== undefined && !clause.among) {
    const group = clause.plural ? { subject: "project", scope: "own" as const } : {};
    return [
      draft(clause, {
        ...group,
        predicate: `uses:${keyOf(using)}`,
        content: `${clause.plural ? "The project" : named(clause)} no longer uses ${using}`,
        permanence: "stable",
        importance: 6,
        turns: true,
      }),
    ];
  }
  const moved = MOVED.exec(clause.rest);
  if (moved?.[2] !== undefined && moved[1] !== undefined)
    return [
      draft(clause, {
        predicate: attribute(clause, "lives_in"),
        content: `${named(clause)} moved from ${moved[1]} to ${moved[2]} ${at}`,
        permanence: "stable",
        importance: 8,
        confidence: 0.95,
        valid_from: since,
        value: moved[2],
      }),
    ];
  const job = QUIT_JOB.exec(clause.rest);
  if (job !== null) {
    const where = job[2] === undefined || job[2].trim() === "" ? "" : (phrase(job[2], { words: 8 }) ?? "");
    const verb = /^(?:have |has )?(\p{L}+(?: from)?)/u.exec(clause.rest)?.[1] ?? "left";
    return [
      draft(clause, {
        predicate: attribute(clause, "works_at"),
        content: `${named(clause)} ${verb} their ${job[1]} ${where} ${at}`,
        permanence: "stable",
        importance: 7,
        confidence: 0.9,
        valid_from: since,
        turns: true,
      }),
    ];
  }
  return switched(clause, at, since);
}

function switched(clause: Clause, at: string, since: string | null): Draft[] {
  const stop = STOPPED.exec(clause.rest);
  if (stop !== null) {
    const raw = (stop[2] ?? "").trim();
    const object = raw === "" ? "" : phrase(raw, { words: 6 });
    const act = (stop[1] ?? "").toLowerCase();
    if (object === undefined || /^(?:being|trying|feeling|thinking|working|worrying|caring)$/.test(act)) return [];
    const eats = /^(eat|drink)ing$/.exec(act)?.[1];
    const predicate =
      act === "smoking"
        ? "smokes"
        : eats !== undefined && object !== ""
          ? `${eats}s:${keyOf(object)}`
          : `habit:${keyOf(`${act} ${object}`)}`;
    return [
      draft(clause, {
        predicate,
        content: `${named(clause)} stopped ${act} ${object} ${at}`,
        permanence: "stable",
        importance: 6,
        valid_from: since,
        turns: true,
      }),
    ];
  }
  const change = SWITCHED.exec(clause.rest);
  const old = phrase(change?.[1] ?? "", { words: 5 });
  const now = phrase(change?.[2] ?? "", { words: 6 });
  if (old === undefined || now === undefined || clause.among) return [];
  const group = clause.plural ? { subject: "project", scope: "own" as const } : {};
  const who = clause.plural ? "The project" : named(clause);
  return [
    draft(clause, {
      ...group,
      predicate: `uses:${keyOf(now)}`,
      content: `${who} switched from ${old} to ${now} ${at}`,
      permanence: "stable",
      importance: 6,
      confidence: 0.9,
      valid_from: since,
      ends: [`prefers:${keyOf(old)}`],
    }),
    draft(clause, {
      ...group,
      predicate: `uses:${keyOf(old)}`,
      content: `${who} no longer uses ${old}`,
      permanence: "stable",
      confidence: 0.85,
      turns: true,
    }),
  ];
}

const CORRECTION =
  /^(?:(?:no|oh|oops|wait|sorry|actually|correction|hmm)[,:.!]? )+(?:(?:i (?:mean|meant)(?: to say)?|it's|it is|that's|make that|that should be|should be) )(.+)$|^i (?:meant|mean)(?: to say)? (.+)$/i;

/** "Actually, it's Lisbon": the value of what the same person said last is another one. */
export function corrected(text: string, last: Draft | undefined): Draft | undefined {
  const match = CORRECTION.exec(text);
  const raw = (match?.[1] ?? match?.[2])?.replace(/,? not [\s\S]*$/i, "");
  if (raw === undefined || last === undefined || last.value === null) return undefined;
  const value = phrase(raw, { strict: true, words: 5 });
  if (value === undefined || /^\p{Lu}/u.test(value) !== /^\p{Lu}/u.test(last.value)) return undefined;
  if (last.content.split(last.value).length !== 2 || value.split(" ").length > last.value.split(" ").length + 2)
    return undefined;
  const old = keyOf(last.value);
  return {
    ...last,
    predicate: last.predicate.endsWith(`:${old}`)
      ? `${last.predicate.slice(0, -old.length)}${keyOf(value)}`
      : last.predicate,
    content: last.content.replace(last.value, () => value),
    ends: [...last.ends, ...(last.predicate.endsWith(`:${old}`) ? [last.predicate] : [])],
    value,
    turns: true,
  };
}
