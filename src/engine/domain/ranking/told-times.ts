/**
 * What can be seen in the words of a turn without knowing the question: whether it tells when something was, and how much it
 * speaks of the one who says it. What people want to know of a conversation is mostly news that somebody told about
 * themselves. English and German; in another language neither is found, and nothing is lost by it.
 */

/** Where a text is longer, its beginning speaks for it: a turn that is enormous costs no more than a long one. */
const READ_CHARS = 2000;

/** Latin letters, which both languages are written in: a class of all letters takes longer. */
const WORD = /[0-9a-zß-öø-ÿ]+/g;

const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/));

/** Before an apostrophe too: "I'm" and "we've" are read as two words. */
const FIRST_PERSON = words(`i my we our me us
  ich mich mir mein meine meinen meinem meiner meines wir uns unser unsere unseren unserem unserer unseres`);

/** So many of them are as good as any more. */
const ENOUGH = 3;

/** May and march are left out: both are words of their own, and one of them the most common. */
const TIME = words(`yesterday today tonight tomorrow recently lately
  monday tuesday wednesday thursday friday saturday sunday
  january february april june july august september october november december
  gestern vorgestern heute übermorgen neulich kürzlich letztens neuerdings vorhin
  montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag
  januar jänner februar märz mai juni juli oktober dezember`);

const WHICH = words(`last next this past previous coming
  letzte letzten letzter letztes nächste nächsten nächster nächstes diese diesen dieser dieses
  vergangene vergangenen vergangener vergangenes vorige vorigen voriger voriges kommende kommenden kommender kommendes`);
const SPAN = words(`night week weekend month year spring summer autumn fall winter may march
  nacht woche wochenende monat jahr tage tagen wochen frühling frühjahr sommer herbst`);

const PAIRS: Readonly<Record<string, ReadonlySet<string>>> = {
  this: words("morning"),
  these: words("days"),
  other: words("day"),
  just: words("got finished started went had took joined signed came bought"),
  gerade: words("erst"),
  eben: words("erst"),
  letzter: words("zeit"),
};

const UNIT =
  /^(?:(?:day|week|weekend|month|year|hour)s?|tag|tage|tagen|woche|wochen|wochenende|wochenenden|monat|monate|monaten|jahr|jahre|jahren|stunde|stunden)$/;
const AGO = words("ago back now");
const COUNT =
  /^(?:an?|one|two|three|four|five|six|few|couple|of|\d+|ein|eine[mnr]?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|paar|wenigen|einigen)$/;
const BEFORE_YEAR = words("since in for until seit bis ab jahr");
const YEAR = /^(?:19|20)\d\d$/;

export interface Told {
  /** 0..1: how much it speaks of the speaker. */
  readonly self: number;
  /** It says when. */
  readonly time: boolean;
}

export function told(text: string): Told {
  const said = text.slice(0, READ_CHARS).toLowerCase().match(WORD) ?? [];
  let own = 0;
  for (const word of said) if (FIRST_PERSON.has(word)) own++;
  return { self: Math.min(ENOUGH, own) / ENOUGH, time: said.some((_, at) => isTime(said, at)) };
}

function isTime(said: readonly string[], at: number): boolean {
  const word = said[at] as string;
  if (TIME.has(word)) return true;
  const next = said[at + 1] ?? "";
  // "Guten Morgen" is a greeting, and "morgen" alone the next day.
  if (word === "morgen") return said[at - 1] !== "guten";
  if (WHICH.has(word) && SPAN.has(next)) return true;
  if (Object.hasOwn(PAIRS, word) && PAIRS[word]?.has(next)) return true;
  if (BEFORE_YEAR.has(word) && YEAR.test(next)) return true;
  if (AGO.has(word)) return UNIT.test(said[at - 1] ?? "") && COUNT.test(said[at - 2] ?? "");
  return word === "vor" && isAgoInGerman(next, said[at + 2] ?? "", said[at + 3] ?? "");
}

/** "vor drei Tagen", "vor ein paar Wochen", "vor kurzem". */
function isAgoInGerman(first: string, second: string, third: string): boolean {
  if (first === "kurzem" || first === "langem") return true;
  if (!COUNT.test(first)) return false;
  return UNIT.test(second) || (second === "paar" && UNIT.test(third));
}
