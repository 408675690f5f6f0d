/** What somebody is at just now, or stuck with. It reads like a statement about them, and is over with the task. */
const AT_IT =
  /^(?:(?:ok|okay|so|hi|hello|hey|well|and|but|also|now|na|und|aber)[,.!]?\s+)*(?:i(?:'m| am|m| was|'ve been| have been) (?:currently |now |still |just |kinda |kind of |a bit |really )*(?:trying|having (?:trouble|issues|problems|a hard time)|encountering|experiencing|getting|struggling|stuck|facing|seeing|confused|wondering|worried|not sure|unsure|looking (?:at|for|to))|i keep getting|i(?:'ve| have)? (?:already |also )?tried|i (?:also |really |just )?(?:want|need|would like|'d like) to (?:add|implement|utili[sz]e|solve|explore|display|create|show|fix|set up|achieve|make sure|understand|verify|check|confirm|know|figure out|double-check)|i(?:'d| would) like to (?:make sure|understand|verify|check|confirm|know)|here(?:'s| is|s) (?:my|the)|my (?:code|output|error|log)s? (?:looks?|is|says?)|ich (?:versuche|probiere|bekomme|kriege|verstehe nicht|hänge|sehe|habe (?:probleme|schwierigkeiten|ein problem|versucht|probiert)|bin (?:mir )?(?:nicht sicher|unsicher|gerade))|hier (?:ist|sind) (?:mein|der|die|das))(?![\p{L}])/iu;
/** Beside what they are at, the sentence says what was chosen, or how they want it. */
const LASTS =
  /(?<!\p{L})(?:prefer|prefers|preference|always|never|every (?:\p{L}+ )?(?:day|week|month|year|weekend|morning|evening|\p{L}+days?)|jede[nr] (?:\p{L}+ )?(?:tag|monat|woche|abend|\p{L}+(?:tag|woch))|chose|chosen|decided|allergic|hate|love|my name|entschieden|immer|nie|lieber|bevorzuge)(?!\p{L})/iu;

export const isAtIt = (text: string): boolean => AT_IT.test(text);

/** How far the work has come: over with the next message. */
const PROGRESS =
  /^i(?:'m| am) (?:currently |now |still |already )*(?:working on (?:the\b|\p{L}+ing\b|some\b)|(?:at|on|about) (?:about |around )?\d+ ?%|halfway)|^i(?:'ve| have)? (?:just |now |already |recently |finally )*(?:(?:implemented|added|reduced|optimi[sz]ed)\b(?! (?:a|the) rule)|been (?:focusing|reviewing|practi[cs]ing|working) (?:on\b|my\b|the\b|\p{L}+ing\b)|made (?:a|some) mistakes?\b|(?:thought|guess) i\b|messed up\b)/iu;
/** The same of what was done, if it says how much of it. */
const DONE =
  /(?<!\p{L})i(?:'ve| have)? (?:just |now |already |recently |finally )*(?:completed|finished|solved|scored|improved|managed to)\b/iu;
const MEASURED =
  /\d ?%|\d\/\d|(?<!\p{L})(?:problems?|questions?|exercises?|quiz|sprint|module|feature|page|form)(?!\p{L})/iu;
const MOOD =
  /^i(?:'m| am)? (?:(?:feel|feeling|kinda|kind of|sorta|sort of|really|so|a bit|pretty|very) )*(?:conflicted|stressed|overwhelmed|nervous|anxious|excited|motivated|proud|confident|frustrated|hopeful|relieved|thrilled|curious)(?!\p{L})/iu;
/** Thanks, praise, and that something is understood now. */
const THANKS =
  /^(?:thanks?(?!-)|thank you|great|awesome|perfect|nice|cool|wow)\b|^(?:it(?:'s| is)|that(?:'s| is)|everything is|things are) (?:much |a lot |so |really |all |now )*(?:clear|clearer|helpful|great|good|fine|interesting|amazing|perfect|making sense|simpler|easier)\b|^(?:that|this|it|your \p{L}+|the (?:[\p{L}-]+ ){0,2}(?:breakdown|explanation|example|examples|steps|answer|code|table|diagram)) (?:really |also |all |definitely |certainly )*(?:makes?|helps?|helped|looks?|sounds?|works?|clarif(?:y|ies|ied)|seems?|gives?)\b|^i (?:really )?(?:appreciate|understand|get (?:it|that)|see (?:how|that|why|what)|think i (?:understand|get|see|can|'ve got))\b|^got it\b/iu;
/** A sentence of a textbook, or what an exercise starts from: true of nobody in particular. */
const TEXTBOOK =
  /(?<!\p{L})(?:(?:the|a) (?:probability|derivative|integral) of|equilateral|isosceles|scalene|hypotenuse|centroid|coin toss(?:es)?|favou?rable outcomes?|mutually exclusive|square root of|conditional probability|(?:drawing|rolling|tossing|flipping) (?:a|an|two|three|the)|(?:a|the) (?:box|bag|jar|urn|deck|coin) .{0,80}(?:balls?|marbles?|cards?|heads|tails))(?!\p{L})/iu;
const OF_SOMEBODY =
  /(?<!\p{L})(?:i|i'm|i've|i'd|me|my|mine|we|we're|we've|us|our|you|your|ich|mein\p{L}*|wir|unser\p{L}*)(?!\p{L})/iu;
/** What somebody has not done so far: it ends with the task that they ask about. */
const NOT_YET =
  /(?<!\p{L})i(?:'ve| have) never (?!been able|had|eaten|met|missed).{0,200}(?<!\p{L})(?:before|yet|in this project|but i (?:want|need|would like|am|'m))(?!\p{L})/iu;
/** A calculation with its result. */
const EQUATION = /\d ?[=×] ?\d|\p{L}\(\d+, ?\d+\) ?=/u;
/** That a day has come, or that something goes well. */
const SO_FAR =
  /(?<!\p{L})it(?:'s| is) already (?:\p{L}+ )?\d|^i feel like i(?:'ve| have) made (?:\p{L}+ )?progress(?!\p{L})/iu;
/** The end of a sentence whose beginning has been left out. */
const FRAGMENT = /^(?:like|such as|especially|including|e\.g|for example|or|than|as well as)\b/i;

export const isOfTheMoment = (text: string): boolean =>
  (AT_IT.test(text) && !LASTS.test(text)) ||
  PROGRESS.test(text) ||
  NOT_YET.test(text) ||
  EQUATION.test(text) ||
  SO_FAR.test(text) ||
  (DONE.test(text) && MEASURED.test(text)) ||
  ((MOOD.test(text) || THANKS.test(text)) && !LASTS.test(text)) ||
  FRAGMENT.test(text) ||
  (TEXTBOOK.test(text) && !OF_SOMEBODY.test(text));
