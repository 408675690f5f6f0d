/** What happened, with its date. */
import { dayWords } from "./dates.ts";
import { type Clause, type Draft, draft } from "./draft.ts";
import { FLEETING, keyOf, PROPER, phrase, UNTOLD } from "./phrases.ts";
import { attribute, named, possessive } from "./subject.ts";

const DONE =
  "passed away|died|took up|went|visited|attended|joined|started|began|finished|completed|signed up|enrolled|registered|adopted|bought|sold|got|received|won|lost|passed|failed|graduated|moved|married|met|hosted|organi[sz]ed|launched|opened|closed|shut down|quit|left|broke|hurt|injured|sprained|had|took|ran|made|painted|built|wrote|published|released|deployed|migrated|shipped|volunteered|donated|performed|played|participated|competed|travell?ed|flew|drove|hiked|camped|planted|cooked|baked|read|watched|saw|learned|learnt|taught|gave|celebrated|booked|applied|interviewed|hired|fired|helped|led|set up|spoke|presented|submitted|upgraded|renovated|repaired|fixed|tried|discovered|found|created|designed|developed|expanded|raised|retired|recovered|underwent|switched|spent|stayed|ate|came out|posted|decorated|rescued|collected|ordered|planned|ran into|dropped|picked up|replaced|installed|rewrote|cancell?ed|postponed|rescheduled|gave birth|proposed|swam|climbed|cycled|walked|explored|recorded|retook|contacted|teamed up|held|rented|became|reached|achieved|earned|enlisted|returned|redid|sent|put up|put together|helped renovate|threw|adopted";
const EVENT = new RegExp(`^(?:(have|has) )?(${DONE})\\b\\s*(.*)$`, "i");
/** Worth keeping without a date. */
const LIFE =
  /^(?:adopted (?:a|an|two|three|from)|moved to (?!an? (?!new (?:house|home|flat|apartment|city|country)))|graduated|got (?:married|engaged|divorced|promoted|accepted|hired|fired|laid off|a (?:new )?(?:job|dog|cat|puppy|kitten|promotion))|gave birth|lost my job|joined (?:a|an|the)|opened (?:a|an|my|our)|launched (?:a|an|my|our)|started (?:a|my|our) (?:own |new |online )*(?:\p{L}+ )?(?:business|company|job|store|shop|studio|blog|podcast|channel|class|course|program|group|project|campaign|charity|foundation)|bought (?:a|my|our) (?:new |first )?(?:house|home|flat|apartment|car|boat|van)|passed (?:my|the)|won (?:a|an|the|first|second|third)|retired|had (?:a baby|twins|(?:my|our) (?:first|second|third))|signed up for|enrolled|donated|completed|finished (?:my|the|writing)|quit (?:my|the)|published (?:a|my|our)|became (?:a|an)|created (?:a|an|my)|built (?:a|an|my)|developed (?:a|an|my)|hired|rented|applied (?:to|for))\b/iu;
const MOMENT =
  /^(?:a|an|the|some|such) (?:[\p{L}-]+ ){0,3}(?:day|time|blast|chat|experience|talk|night|weekend|week|moment|feeling|laugh|conversation|memory|sunset|pic|photo|picture)\b/iu;
/** "I met this old sailor": in news, "this" is "a". */
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

/** Among people also what has no date is told for its own sake; to an agent it is a step of the work. */
const TOLD =
  /^(?:went (?:to|on)|visited|attended|volunteered|met|organi[sz]ed|hosted|participated|ran|performed|taught|held|competed|received|took|donated|helped|played|built|made|wrote|learned|bought|created|designed|discovered) (?:(?:to|on|in|at|for|with|out|back) )*(?:an?|two|three|four|my|our|\p{Lu}\p{L}+)\b/u;
/** One moves to these without leaving home. */
const TECHNICAL =
  /^(?:Rust|Go|Python|TypeScript|JavaScript|Java|Kotlin|Swift|Linux|Ubuntu|Debian|Windows|Mac|macOS|Postgres|PostgreSQL|MySQL|SQLite|Redis|Kafka|Kubernetes|Docker|AWS|Azure|GCP|Vim|Neovim|Emacs|Helix|Zed|VS Code|GitHub|GitLab|Slack|Teams|React|Vue|Svelte|Notion|Obsidian|Terraform|Node|Deno|Bun)\b/;
const FEWEST_WORDS = 4;

/** What can be said of the time when no date is named. */
function roughly(clause: Clause, life: boolean): string {
  if (clause.recent === "just") return `around ${dayWords(clause.day)}`;
  if (clause.recent === "recently") return `shortly before ${dayWords(clause.day)}`;
  return life ? "" : `before ${dayWords(clause.day)}`;
}

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
  const news = clause.recent !== null && NEWS.test(whole);
  const told = clause.among && when === null && TOLD.test(whole);
  if (!dated && !news && !told && !LIFE.test(whole)) return [];
  const object = raw === "" ? "" : phrase(raw, { words: 18 });
  if (
    object === undefined ||
    (object === "" && NEEDS_OBJECT.test(verb)) ||
    FLEETING.test(object) ||
    UNTOLD.test(object)
  )
    return [];
  // "I got the part": which one was clear only then.
  if (/^(?:had|got|took|saw|made|found|lost|bought)$/.test(verb) && /^the \p{L}+$/u.test(object)) return [];
  if (/^(?:had|got|spent|took|saw|made)$/.test(verb) && MOMENT.test(object)) return [];
  if (/^(?:to (?:think|realize|know|see|feel|say)|like\b|used\b|feeling\b)/.test(object)) return [];
  const life = LIFE.test(`${verb} ${object.replace(/\btheir\b/g, "my")}`);
  if (!dated && !news && !life && (!told || object.split(" ").length < FEWEST_WORDS)) return [];
  const from = dated ? when.from : clause.recent === "just" ? clause.day : null;
  const at = dated ? when.words : roughly(clause, life);
  const did = match[1] === undefined || at !== "" ? verb : `has ${PARTICIPLE[verb] ?? verb}`;
  const gist = keyOf(`${verb} ${object}`).slice(0, 90);
  const moved = new RegExp(`^(?:back )?to (${PROPER})(?: (?:from|with|for) .+)?$`, "u").exec(object)?.[1];
  const home = verb === "moved" && moved !== undefined && !TECHNICAL.test(moved) && clause.relative === null;
  return [
    draft(clause, {
      predicate: home ? "lives_in" : `${attribute(clause, "event")}:${gist}${from === null ? "" : `:${from}`}`,
      content: `${named(clause)} ${did} ${object} ${at}`,
      permanence: home ? "stable" : "standard",
      importance: home ? 8 : life ? 6 : told ? 3 : 4,
      confidence: dated ? 0.9 : told ? 0.7 : 0.8,
      valid_from: from,
      value: home ? moved : null,
    }),
  ];
}

const THING =
  /^(?:my|our) ((?:[\p{L}'-]+ ){0,3}[\p{L}'-]+) ((?:broke down|was hit|was stolen|got stolen|was born|died|passed away|crashed|burned down|got into|won|opened|closed|was diagnosed|was accepted|was rejected|was approved|got approved|was released|went live|launched)\b)(.*)$/iu;

/** "My bike was stolen on Monday." */
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
