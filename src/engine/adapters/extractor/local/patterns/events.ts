/** What happened, with its date. */
import { dayWords, plusDays } from "../calendar.ts";
import { type Clause, type Draft, draft } from "../draft.ts";
import { FLEETING, keyOf, PROPER, phrase, UNEXPLAINED } from "../phrases.ts";
import { attribute, named, possessive } from "../subject.ts";
import { type Groups, type Refusal, refused, type Table } from "../table.ts";

const DONE =
  "passed away|died|took up|went|visited|attended|joined|started|began|finished|completed|signed up|enrolled|registered|adopted|bought|sold|got|received|won|lost|passed|failed|graduated|moved|married|met|hosted|organi[sz]ed|launched|opened|closed|shut down|quit|left|broke|hurt|injured|sprained|had|took|ran|made|painted|built|wrote|published|released|deployed|migrated|shipped|volunteered|donated|performed|played|participated|competed|travell?ed|flew|drove|hiked|camped|planted|cooked|baked|read|watched|saw|learned|learnt|taught|gave|celebrated|booked|applied|interviewed|hired|fired|helped|led|set up|spoke|presented|submitted|upgraded|renovated|repaired|fixed|tried|discovered|found|created|designed|developed|expanded|raised|retired|recovered|underwent|switched|spent|stayed|ate|came out|posted|decorated|rescued|collected|ordered|planned|ran into|dropped|picked up|replaced|installed|rewrote|cancell?ed|postponed|rescheduled|gave birth|proposed|swam|climbed|cycled|walked|explored|recorded|retook|contacted|teamed up|held|rented|became|reached|achieved|earned|enlisted|returned|redid|sent|put up|put together|helped renovate|threw|adopted";
/** Events that change a life: kept without a date. */
const LIFE =
  /^(?:adopted (?:a|an|two|three|from)|moved to (?!an? (?!new (?:house|home|flat|apartment|city|country)))|graduated|got (?:married|engaged|divorced|promoted|accepted|hired|fired|laid off|a (?:new )?(?:job|dog|cat|puppy|kitten|promotion))|gave birth|lost my job|joined (?:a|an|the)|opened (?:a|an|my|our)|launched (?:a|an|my|our)|started (?:a|my|our) (?:own |new |online )*(?:\p{L}+ )?(?:business|company|job|store|shop|studio|blog|podcast|channel|class|course|program|group|project|campaign|charity|foundation)|bought (?:a|my|our) (?:new |first )?(?:house|home|flat|apartment|car|boat|van)|passed (?:my|the)|won (?:a|an|the|first|second|third)|retired|had (?:a baby|twins|(?:my|our) (?:first|second|third))|signed up for|enrolled|donated|completed|finished (?:my|the|writing)|quit (?:my|the)|published (?:a|my|our)|became (?:a|an)|created (?:a|an|my)|built (?:a|an|my)|developed (?:a|an|my)|hired|rented|applied (?:to|for))\b/iu;
/** Kept when the clause says that it is recent: "I just started", "we recently signed". */
const NEWS =
  /^(?:started|failed|began|contacted|teamed up|signed|moved|finished|completed|launched|released|booked|applied|hired|took (?:a|an|up)|learned|bought|adopted|joined|published|set up|opened|went to|visited|attended|had (?:my|our|a baby|surgery)|met with|became|switched|planted|built|wrote|created|returned|read)\b/i;
/** Kept between people even without a date; said to an agent it is a step of the work. */
const TOLD =
  /^(?:went (?:to|on)|visited|attended|volunteered|met|organi[sz]ed|hosted|participated|ran|performed|taught|held|competed|received|took|donated|helped|played|built|made|wrote|learned|bought|created|designed|discovered) (?:(?:to|on|in|at|for|with|out|back) )*(?:an?|two|three|four|my|our|\p{Lu}\p{L}+)\b/u;
const OF_OTHERS =
  /^(?:passed away|died|got (?:married|engaged|promoted|divorced)|had (?:a baby|a baby (?:girl|boy)|twins|surgery)|graduated|gave birth|retired|was born|moved to|started|bought|adopted)\b/i;
/** "I met this old sailor": told as news, "this" means "a". */
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
/** "We moved to Postgres" names no home. */
const TECHNICAL =
  /^(?:Rust|Go|Python|TypeScript|JavaScript|Java|Kotlin|Swift|Linux|Ubuntu|Debian|Windows|Mac|macOS|Postgres|PostgreSQL|MySQL|SQLite|Redis|Kafka|Kubernetes|Docker|AWS|Azure|GCP|Vim|Neovim|Emacs|Helix|Zed|VS Code|GitHub|GitLab|Slack|Teams|React|Vue|Svelte|Notion|Obsidian|Terraform|Node|Deno|Bun)\b/;
const MOVED_TO = new RegExp(`^(?:back )?to (${PROPER})(?: (?:from|with|for) .+)?$`, "u");

const isNews = (clause: Clause, whole: string) => clause.recent !== null && NEWS.test(whole);

/** Shorter objects of what is merely told say too little. */
const FEWEST_WORDS = 4;
const IMPORTANCE_OF_LIFE = 6;
/** In days; "just" is said of last year's events as well, on a day of this year. */
const MOST_RECENT = 330;

/** Why an event is kept. */
interface Reason {
  readonly importance: number;
  readonly confidence: number;
  readonly holds: (clause: Clause, whole: string, dated: boolean) => boolean;
  /** Whether the reason is enough for the object as it was cut, when that is no event that changes a life. */
  readonly suffices: (object: string, clause: Clause, whole: string) => boolean;
}

/** The first reason that holds counts: a date, told between people, news, an event that changes a life. */
const REASONS: readonly Reason[] = [
  { importance: 4, confidence: 0.9, holds: (_clause, _whole, dated) => dated, suffices: () => true },
  {
    importance: 3,
    confidence: 0.7,
    holds: (clause, whole) => clause.betweenPeople && TOLD.test(whole),
    suffices: (object, clause, whole) => object.split(" ").length >= FEWEST_WORDS || isNews(clause, whole),
  },
  { importance: 4, confidence: 0.8, holds: isNews, suffices: () => true },
  {
    importance: IMPORTANCE_OF_LIFE,
    confidence: 0.8,
    holds: (_clause, whole) => LIFE.test(whole),
    suffices: () => false,
  },
];

/** Verbs and objects that are no event, even with a date. */
export const NO_EVENTS: readonly Refusal[] = [
  {
    verb: /^(?:got|had|took|made|gave|saw|did|found|left|met|ran|set up|tried|read|lost|spent|bought|received|joined|visited|attended|started|began|helped|led|posted|created|planned|watched|received|hosted|built|wrote|painted|won|passed|discovered|booked|collected|ordered)$/i,
    object: /^$/,
    example: "I won yesterday.",
  },
  { object: FLEETING, example: "I had a great idea yesterday." },
  { object: UNEXPLAINED, example: "I fixed the bug yesterday." },
  // Which keys was clear only when it was said.
  {
    verb: /^(?:had|got|took|saw|made|found|lost|bought)$/,
    object: /^the \p{L}+$/u,
    example: "I got the keys yesterday.",
  },
  {
    verb: /^(?:had|got|spent|took|saw|made)$/,
    object:
      /^(?:a|an|the|some|such) (?:[\p{L}-]+ ){0,3}(?:day|time|blast|chat|experience|talk|night|weekend|week|moment|feeling|laugh|conversation|memory|sunset|pic|photo|picture)\b/iu,
    example: "I saw a beautiful sunset yesterday.",
  },
  // A step of the work that is done today and forgotten tomorrow.
  {
    verb: /^(?:completed|finished|fixed|created|built|developed|designed|wrote|set up|deployed|started|began|made|tried|reached|achieved|submitted|installed|replaced|solved)$/,
    object:
      /\b(?:sprints?|modules?|features?|functions?|components?|endpoints?|pages?|forms?|scripts?|unit tests|schema|tables?|quer(?:y|ies)|code|login|registration|api|crud|templates?|layout|problems?|exercises?|questions?|quiz|quizzes|structure|implementation|integration|setup|configuration|drafts?|sections?|phase|steps?|tasks?|tickets?|issues?|bugs?|errors?|score)\b|\d ?%/i,
    toAgent: true,
    example: "I completed the login page on Monday.",
  },
  // Meals and walks, which are over with the day.
  {
    verb: /^(?:had|made|cooked|baked|ate|went|took|saw|drove|watched|walked|ordered|got)$/,
    object:
      /^(?:(?:for|to|out for|out to|on) )?(?:an?|some|the|their)?\s?(?:(?:[\p{L}-]+) ){0,2}?(?:picnic|dinner|lunch|breakfast|brunch|barbecue|bbq|pie|cake|cookies|pizza|pasta|meal|coffee|drinks?|ice cream|snacks?|walk|stroll|swim|drive|nap|beach|park|mall|store|shops?|supermarket|movies|cinema|gym|sunset|sunrise|sky|pub|bar)(?: (?:for|with|at|to) (?:the|their|some|a) [\p{L}-]+)?$/iu,
    example: "We had a picnic last week.",
  },
  {
    object: /^(?:to (?:think|realize|know|see|feel|say)|like\b|used\b|feeling\b)/,
    example: "I began to see yesterday.",
  },
];

/** What can be said of the time when no date is named. */
function roughly(clause: Clause, life: boolean): string {
  if (clause.recent === "just") return `around ${dayWords(clause.day)}`;
  if (clause.recent === "recently") return `shortly before ${dayWords(clause.day)}`;
  return life ? "" : `before ${dayWords(clause.day)}`;
}

/** The place to which a person moved, or null. */
function newHome(verb: string, object: string, clause: Clause): string | null {
  if (verb !== "moved" || clause.relative !== null) return null;
  const town = MOVED_TO.exec(object)?.[1];
  return town === undefined || TECHNICAL.test(town) ? null : town;
}

interface Kept extends Pick<Reason, "importance" | "confidence"> {
  readonly object: string;
  readonly life: boolean;
}

function kept(verb: string, raw: string, clause: Clause, dated: boolean): Kept | undefined {
  const whole = `${verb} ${raw}`;
  const reason = REASONS.find(({ holds }) => holds(clause, whole, dated));
  if (reason === undefined) return undefined;
  const object = raw === "" ? "" : phrase(raw, { words: 18 });
  if (object === undefined || refused(NO_EVENTS, verb, object, clause)) return undefined;
  const life = LIFE.test(`${verb} ${object.replace(/\btheir\b/g, "my")}`);
  if (!life && !reason.suffices(object, clause, whole)) return undefined;
  return { object, life, importance: life ? IMPORTANCE_OF_LIFE : reason.importance, confidence: reason.confidence };
}

function event([, perfect, said, raw]: Groups, clause: Clause): readonly Draft[] {
  const verb = said.toLowerCase();
  const when = clause.when?.("past") ?? null;
  if (when !== null && when.from > clause.day) return [];
  // "I just went there on 3 May", said in April: one of the two is wrong.
  if (when !== null && clause.recent === "just" && when.to < plusDays(clause.day, -MOST_RECENT)) return [];
  const what = kept(verb, raw, clause, when !== null);
  if (what === undefined) return [];
  const { object, life, importance, confidence } = what;
  const from = when?.from ?? (clause.recent === "just" ? clause.day : null);
  const at = when?.words ?? roughly(clause, life);
  const did = perfect === "" || at !== "" ? verb : `has ${PARTICIPLE[verb] ?? verb}`;
  const content = `${named(clause)} ${did} ${object} ${at}`;
  const value = newHome(verb, object, clause);
  if (value !== null)
    return [
      draft(clause, {
        predicate: "lives_in",
        content,
        permanence: "stable",
        importance: 8,
        confidence,
        valid_from: from,
        value,
      }),
    ];
  const gist = keyOf(`${verb} ${object}`).slice(0, 90);
  const predicate = `${attribute(clause, "event")}:${gist}${from === null ? "" : `:${from}`}`;
  return [draft(clause, { predicate, content, permanence: "standard", importance, confidence, valid_from: from })];
}

export const EVENTS: Table = {
  kind: "events",
  applies: (clause) => !clause.owned && (clause.relative === null || OF_OTHERS.test(clause.rest)),
  text: ({ rest }) =>
    rest.replace(SHOWN, (_all, verb: string, next: string) => `${verb} ${/[aeiou]/i.test(next) ? "an" : "a"} ${next}`),
  rows: [
    {
      name: "did",
      pattern: new RegExp(`^(?:(have|has) )?(${DONE})\\b\\s*(.*)$`, "i"),
      example: "I visited the old harbour on 3 March.",
      gives: "event:visited the old harbour:2026-03-03 = The user visited the old harbour on 3 March 2026.",
      also: [
        { example: "I moved to Porto.", gives: "lives_in = The user moved to Porto." },
        {
          example: "I just finished a pottery course.",
          gives:
            "event:finished a pottery course:2026-03-11 = The user finished a pottery course around 11 March 2026.",
        },
        { example: "I have adopted a cat.", gives: "event:adopted a cat = The user has adopted a cat." },
        {
          example: "I ran a small workshop for beginners.",
          gives:
            "event:ran a small workshop for beginners = Ada ran a small workshop for beginners before 11 March 2026.",
          betweenPeople: true,
        },
      ],
      not: ["I read a long article."],
      make: event,
    },
  ],
};

export const EVENTS_OF_THINGS: Table = {
  kind: "events of things",
  applies: (clause) => clause.owned,
  rows: [
    {
      name: "happened to",
      pattern:
        /^(?:my|our) ((?:[\p{L}'-]+ ){0,3}[\p{L}'-]+) ((?:broke down|was hit|was stolen|got stolen|was born|died|passed away|crashed|burned down|got into|won|opened|closed|was diagnosed|was accepted|was rejected|was approved|got approved|was released|went live|launched)\b)(.*)$/iu,
      example: "My bike was stolen on Monday.",
      gives: "event:bike was stolen:2026-03-09 = The user's bike was stolen on 9 March 2026.",
      not: ["My bike was stolen."],
      make: ([, thing, happened, raw], clause) => {
        const when = clause.when?.("past") ?? null;
        if (when === null || when.from > clause.day) return [];
        const tail = raw.trim();
        const onTheWay = /^on (?:my|our) way\b/.test(tail);
        const more = tail === "" || onTheWay ? tail.replace(/\b(?:my|our)\b/g, "their") : phrase(tail, { words: 10 });
        if (more === undefined) return [];
        return [
          draft(clause, {
            predicate: `event:${keyOf(`${thing} ${happened}`)}:${when.from}`,
            content: `${possessive(clause.person.name)} ${thing} ${happened} ${more} ${when.words}`,
            permanence: "standard",
            confidence: 0.9,
            valid_from: when.from,
          }),
        ];
      },
    },
  ],
};
