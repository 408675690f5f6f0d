/** What happened, and what is planned, with its date. */
import { dayWords, plusDays } from "./dates.ts";
import { type Clause, type Draft, draft } from "./draft.ts";
import { keyOf, PROPER, phrase } from "./phrases.ts";
import { attribute, named, possessive } from "./subject.ts";

const DONE =
  "passed away|died|took up|went|visited|attended|joined|started|began|finished|completed|signed up|enrolled|registered|adopted|bought|sold|got|received|won|lost|passed|failed|graduated|moved|married|met|hosted|organi[sz]ed|launched|opened|closed|shut down|quit|left|broke|hurt|injured|sprained|had|took|ran|made|painted|built|wrote|published|released|deployed|migrated|shipped|volunteered|donated|performed|played|participated|competed|travell?ed|flew|drove|hiked|camped|planted|cooked|baked|read|watched|saw|learned|learnt|taught|gave|celebrated|booked|applied|interviewed|hired|fired|helped|led|set up|spoke|presented|submitted|upgraded|renovated|repaired|fixed|tried|discovered|found|created|designed|developed|expanded|raised|retired|recovered|underwent|switched|spent|stayed|ate|came out|posted|decorated|rescued|collected|ordered|planned|ran into|dropped|picked up|replaced|installed|rewrote|cancell?ed|postponed|rescheduled|gave birth|proposed|swam|climbed|cycled|walked|explored|recorded|retook|contacted|teamed up|held|rented|became|reached|achieved|earned|enlisted|returned|redid|sent|put up|put together|helped renovate|threw|adopted";
const EVENT = new RegExp(`^(?:(have|has) )?(${DONE})\\b\\s*(.*)$`, "i");
/** Worth keeping without a date. */
const LIFE =
  /^(?:adopted (?:a|an|two|three|from)|moved to|graduated|got (?:married|engaged|divorced|promoted|accepted|hired|fired|laid off|a (?:new )?(?:job|dog|cat|puppy|kitten|promotion))|gave birth|lost my job|joined (?:a|an|the)|opened (?:a|an|my|our)|launched (?:a|an|my|our)|started (?:a|my|our) (?:own |new |online )*(?:\p{L}+ )?(?:business|company|job|store|shop|studio|blog|podcast|channel|class|course|program|group|project|campaign|charity|foundation)|bought (?:a|my|our) (?:new |first )?(?:house|home|flat|apartment|car|boat|van)|passed (?:my|the)|won (?:a|an|the|first|second|third)|retired|had (?:a baby|twins|(?:my|our) (?:first|second|third))|signed up for|enrolled|donated|completed|finished (?:my|the|writing)|quit (?:my|the)|published (?:a|my|our)|became (?:a|an)|created (?:a|an|my)|built (?:a|an|my)|developed (?:a|an|my)|hired|rented|applied (?:to|for))\b/iu;
const MOMENT =
  /^(?:a|an|the|some|such) (?:[\p{L}-]+ ){0,3}(?:day|time|blast|chat|experience|talk|night|weekend|week|moment|feeling|laugh|conversation|memory|sunset|pic|photo|picture)\b/iu;
const FLEETING =
  /^(?:(?:a|an|the|some|such|my|our) )?(?:(?:really|so|super|very|quite|pretty|most|good|great|nice|amazing|awesome|wonderful|lovely|fun|bad|rough|tough|hard|long|busy|crazy|wild|whole|lot of|little|small|huge|real|serious|tons of) )*(?:time|day|days|week|weekend|night|morning|evening|blast|chat|talk|fun|moment|moments|look|idea|feeling|thought|news|experience|luck|problem|problems|issue|issues|question|questions|trouble|bit|break|breather|hold|point|sense|message|back|lost|stuck|tired|sick|nervous|emotional|excited|inspired|hooked|lucky|home|up|out|to sleep|to bed|through|over|better|worse)\b/i;
/** "I adopted this cute puppy": in news, "this" is "a". */
const SHOWN =
  /^((?:have |has )?(?:adopted|met|got|found|joined|tried|bought|made|read|saw|visited|attended)) this (\p{L})(?=\p{L}+ \p{L}+)/iu;
const PARTICIPLE: Readonly<Record<string, string>> = {
  went: "gone",
  began: "begun",
  took: "taken",
  wrote: "written",
  saw: "seen",
  gave: "given",
  ran: "run",
  did: "done",
  broke: "broken",
  drove: "driven",
  flew: "flown",
  ate: "eaten",
  spoke: "spoken",
};
const NEEDS_OBJECT =
  /^(?:got|had|took|made|gave|saw|did|found|left|met|ran|set up|tried|read|lost|spent|bought|received|joined|visited|attended|started|began|helped|led|posted|created|planned|watched|received|hosted|built|wrote|painted|won|passed|discovered|booked|collected|ordered)$/i;

/** Worth keeping when it is news: "I just started", "we recently signed". */
const NEWS =
  /^(?:started|failed|began|contacted|teamed up|signed|moved|finished|completed|launched|released|booked|applied|hired|took (?:a|an|up)|learned|bought|adopted|joined|published|set up|opened|went to|visited|attended|had (?:my|our|a baby|surgery)|met with|became|switched|planted|built|wrote|created|returned|read)\b/i;
const OF_OTHERS =
  /^(?:passed away|died|got (?:married|engaged|promoted|divorced)|had (?:a baby|a baby (?:girl|boy)|twins|surgery)|graduated|gave birth|retired|was born|moved to|started|bought|adopted)\b/i;

export function events(clause: Clause): Draft[] {
  if (/^(?:my|our) /.test(clause.rest)) return ofThings(clause);
  if (clause.relative !== null && !OF_OTHERS.test(clause.rest)) return [];
  const match = EVENT.exec(
    clause.rest.replace(
      SHOWN,
      (_all, verb: string, next: string) => `${verb} ${/[aeiou]/i.test(next) ? "an" : "a"} ${next}`,
    ),
  );
  if (match === null) return [];
  const verb = (match[2] ?? "").toLowerCase();
  const raw = match[3] ?? "";
  const when = clause.when?.("past") ?? null;
  const whole = `${verb} ${raw}`;
  const dated = when !== null && when.from <= clause.day;
  if (when !== null && !dated) return [];
  const news = clause.recent && NEWS.test(whole);
  if (!dated && !news && !LIFE.test(whole)) return [];
  const object = raw === "" ? "" : phrase(raw, { words: 18 });
  if (object === undefined || (object === "" && NEEDS_OBJECT.test(verb)) || FLEETING.test(object)) return [];
  if (/^(?:had|got|spent|took|saw|made)$/.test(verb) && MOMENT.test(object)) return [];
  if (/^(?:to (?:think|realize|know|see|feel|say)|like\b|used\b|feeling\b)/.test(object)) return [];
  if (!dated && !news && !LIFE.test(`${verb} ${object.replace(/\btheir\b/g, "my")}`)) return [];
  const from = dated ? when.from : clause.recent ? clause.day : null;
  const at = dated ? when.words : clause.recent ? `around ${dayWords(clause.day)}` : "";
  const did = match[1] === undefined || at !== "" ? verb : `has ${PARTICIPLE[verb] ?? verb}`;
  const gist = keyOf(`${verb} ${object}`).slice(0, 90);
  const moved = new RegExp(`^(?:back )?to (${PROPER})(?: (?:from|with|for) .+)?$`, "u").exec(object)?.[1];
  const home = verb === "moved" && moved !== undefined && clause.relative === null;
  const life = LIFE.test(`${verb} ${object.replace(/\btheir\b/g, "my")}`);
  return [
    draft(clause, {
      predicate: home ? "lives_in" : `${attribute(clause, "event")}:${gist}${from === null ? "" : `:${from}`}`,
      content: `${named(clause)} ${did} ${object} ${at}`,
      permanence: home ? "stable" : "standard",
      importance: home ? 8 : life ? 6 : 4,
      confidence: dated ? 0.9 : 0.8,
      valid_from: from,
      value: home ? moved : null,
    }),
  ];
}

const THING =
  /^(?:my|our) ((?:[\p{L}'-]+ ){0,3}[\p{L}'-]+) ((?:broke down|was hit|was stolen|got stolen|was born|died|passed away|crashed|burned down|got into|won|opened|closed|was diagnosed|was accepted|was rejected|was approved|got approved|was released|went live|launched)\b)(.*)$/iu;

/** "My car broke down last Friday." */
function ofThings(clause: Clause): Draft[] {
  const match = THING.exec(clause.rest);
  const when = clause.when?.("past") ?? null;
  const tail = (match?.[3] ?? "").trim();
  const what =
    tail === "" || /^on (?:my|our) way\b/.test(tail)
      ? tail.replace(/\b(?:my|our)\b/g, "their")
      : phrase(tail, { words: 10 });
  if (match === null || what === undefined || when === null || when.from > clause.day) return [];
  return [
    draft(clause, {
      predicate: `event:${keyOf(`${match[1]} ${match[2]}`)}:${when.from}`,
      content: `${possessive(clause.person.name)} ${match[1]} ${match[2]} ${what} ${when.words}`,
      permanence: "standard",
      confidence: 0.9,
      valid_from: when.from,
    }),
  ];
}

const COMING =
  "going|having|hosting|attending|visiting|flying|travell?ing|moving|starting|meeting|taking|running|performing|getting married|leaving|seeing|launching|opening|releasing|putting together|competing|speaking|presenting|volunteering|participating|graduating|heading|driving|throwing|organi[sz]ing|joining|getting|doing|celebrating|expecting";
const PROGRESSIVE = new RegExp(
  `^(?:am|is|are) ((?!going to \\p{Ll}+(?<! an?| the| my| our| their) )(?:${COMING})\\b.+)$`,
  "u",
);
const GOING_TO = /^(?:am|is|are) going to (?!be\b|keep\b|try\b|need\b)(\p{Ll}+ .+|\p{Ll}+)$/u;
const WILL = /^will (?:be )?(?!be\b|not\b|never\b|keep\b|try\b|let\b|always\b|definitely\b)(\p{Ll}+ .+)$/u;
const PLANNING = /^(?:(?:am|is|are) planning|plans?|have planned|has planned) (?:on )?(.+)$/i;
const CONSIDERING = /^(?:am|is|are|have been|has been) (?:thinking (?:about|of)|considering|looking into) (.+)$/i;
const HAVE =
  /^(?:have|has) ((?:an?|my|our|two|three) (?:[\p{L}-]+ ){0,3}(?:appointment|interview|exam|test|flight|meeting|surgery|check-?up|deadline|presentation|wedding|trip|concert|gig|race|conference|class|show|competition|recital|demo|talk)\b.*)$/iu;
const OCCASION =
  /^(?:my|our) ((?:[\p{L}'-]+ ){0,3}(?:wedding|exam|flight|appointment|interview|deadline|anniversary|birthday party|surgery|operation|due date|graduation|trip|vacation|holiday|concert|show|recital|conference talk|talk|release|launch|demo|move|marathon|race|thesis defen[cs]e|contract|lease|visa|passport|subscription|sprint|grand opening|opening|party|meeting|check-?up)) (?:is|starts|begins|ends|expires|is scheduled(?: for)?|is due|will be|takes place|runs out)\b ?(.*)$/iu;

function plan(clause: Clause, says: string, raw: string, confidence: number, needsDate: boolean): Draft[] {
  const when = clause.when?.("future") ?? null;
  if (when === null ? needsDate || clause.when !== undefined : when.to < clause.day) return [];
  const object = phrase(raw, { words: 18 });
  if (object === undefined || (FLEETING.test(object.replace(/^\p{L}+ /u, "")) && object.split(" ").length < 5))
    return [];
  if (
    /^(?:to (?:be|keep|try|need|stay)|be|stay|keep|try|miss|need|love|check|send|let|look|think|make sure)\b/.test(
      object,
    )
  )
    return [];
  return [
    draft(clause, {
      predicate: `plan:${keyOf(object)}`,
      content: `${named(clause)} ${says} ${object} ${when?.words ?? ""}`,
      permanence: "volatile",
      confidence,
      valid_to: when?.to ?? null,
    }),
  ];
}

export function plans(clause: Clause): Draft[] {
  if (clause.relative !== null) return [];
  const occasion = OCCASION.exec(clause.rest);
  if (occasion !== null)
    return occasionOf(
      clause,
      occasion[1] ?? "",
      /(is|starts|begins|ends|expires|runs out|due)\b/.exec(clause.rest.slice((occasion[1] ?? "").length))?.[1] ?? "is",
      occasion[2] ?? "",
    );
  if (/^(?:my|our) /.test(clause.rest)) return goal(clause);
  const is = clause.company === "" ? "is" : "are";
  const going = GOING_TO.exec(clause.rest)?.[1];
  if (going !== undefined) {
    if (/^(?:a|an|the|my|our)\b/.test(going)) return plan(clause, `${is} going to`, going, 0.85, true);
    return plan(clause, `${is} going to`, going, 0.8, true);
  }
  const now = PROGRESSIVE.exec(clause.rest)?.[1];
  if (now !== undefined) return plan(clause, is, now, 0.85, true);
  const will = WILL.exec(clause.rest)?.[1];
  if (will !== undefined) return plan(clause, "will", will, 0.75, true);
  const planned = PLANNING.exec(clause.rest)?.[1];
  if (planned !== undefined)
    return plan(clause, is === "is" ? "plans" : "plan", planned.replace(/^(\p{L}+ing\b)/u, "on $1"), 0.85, false);
  const thought = CONSIDERING.exec(clause.rest)?.[1];
  if (thought !== undefined) return plan(clause, `${is} considering`, thought, 0.65, false);
  const have = HAVE.exec(clause.rest)?.[1];
  return have === undefined ? [] : plan(clause, is === "is" ? "has" : "have", have, 0.85, true);
}

function occasionOf(clause: Clause, what: string, verb: string, more: string): Draft[] {
  const when = clause.when?.("future") ?? null;
  if (when === null || when.to < clause.day) return [];
  const tail = more === "" ? "" : (phrase(more, { words: 10 }) ?? "");
  return [
    draft(clause, {
      predicate: keyOf(what).replace(/ /g, "_"),
      content: `${clause.person.name}'s ${what} ${verb === "due" ? "is due" : verb} ${when.words} ${tail}`,
      permanence: "volatile",
      importance: 6,
      confidence: 0.9,
      // A wedding is over the day after.
      valid_to: plusDays(when.to, 0),
    }),
  ];
}

const GOAL =
  /^(?:my|our) (?:(?:main|big|biggest|ultimate|long-term|life|career|next|new) )?(goal|dream|aim|resolution)(?: (?:for|this|in) .{1,20}?)? (?:is|has always been) to (.+)$/i;

function goal(clause: Clause): Draft[] {
  const match = GOAL.exec(clause.rest);
  const object = match === null ? undefined : phrase(match[2] ?? "", { words: 16 });
  if (match === null || object === undefined) return [];
  return [
    draft(clause, {
      predicate: `goal:${keyOf(object)}`,
      content: `${clause.person.name}'s ${match[1]} is to ${object}`,
      permanence: "standard",
      importance: 6,
    }),
  ];
}
