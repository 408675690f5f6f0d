/** What somebody is at just now, or stuck with. It reads like a statement about them, and is over with the task. */
const AT_IT =
  /^(?:(?:ok|okay|so|hi|hello|hey|well|and|but|also|now|na|und|aber)[,.!]?\s+)*(?:i(?:'m| am|m| was|'ve been| have been) (?:currently |now |still |just |kinda |kind of |a bit |really )*(?:trying|having (?:trouble|issues|problems|a hard time)|encountering|experiencing|getting|struggling|stuck|facing|seeing|confused|wondering|worried|not sure|unsure|looking (?:at|for|to))|i(?:'ve| have)? (?:already |also )?tried|i (?:want|need|would like|'d like) to (?:make sure|understand|verify|check|confirm|know|figure out|double-check)|i(?:'d| would) like to (?:make sure|understand|verify|check|confirm|know)|here(?:'s| is|s) (?:my|the)|my (?:code|output|error|log)s? (?:looks?|is|says?)|ich (?:versuche|probiere|bekomme|kriege|verstehe nicht|hänge|sehe|habe (?:probleme|schwierigkeiten|ein problem|versucht|probiert)|bin (?:mir )?(?:nicht sicher|unsicher|gerade))|hier (?:ist|sind) (?:mein|der|die|das))(?![\p{L}])/iu;
/** Beside what they are at, the sentence says what was chosen, or how they want it. */
const LASTS =
  /(?<!\p{L})(?:prefer|prefers|preference|always|never|chose|chosen|decided|allergic|hate|love|my name|entschieden|immer|nie|lieber|bevorzuge)(?!\p{L})/iu;

export const isOfTheMoment = (text: string): boolean => AT_IT.test(text) && !LASTS.test(text);
