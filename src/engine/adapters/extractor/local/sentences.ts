/** The sentences that somebody says in an episode, without code, logs, quotations and words such as "Ada said". */

export interface Sentence {
  readonly text: string;
  readonly question: boolean;
}

/** Longer sentences are lists, dumps or lines without punctuation, in which patterns would only guess. The limit also keeps the work linear. */
const LONGEST = 400;
const FENCED = /^\s*(?:```|~~~)/;
/** Lines that are not speech: quoted mail, tables, headings, diffs, stack frames, stamped logs, shell prompts, code. */
const NOT_SPOKEN =
  /^\s*(?:>|\||#{1,6}\s|@@|[+-]{3}\s|\$\s|at\s+\S+\s*\(|File "|\[?\d{4}-\d\d-\d\d[T ]\d\d:|\[?\d\d:\d\d:\d\d|(?:ERROR|WARN|WARNING|INFO|DEBUG|TRACE|FATAL)\b|(?:import|export|const|let|var|function|def|class|return|public|private|if|for|while)\b.*[{(;=:]\s*$|[}\])]+[;,]?\s*$|<\/?[a-z])|[;{}]\s*$|=>|\)\s*\{|::|&&|\|\|/i;
export const isFence = (line: string): boolean => FENCED.test(line);
export const isSpoken = (line: string): boolean => !NOT_SPOKEN.test(line.length > 2000 ? line.slice(0, 200) : line);

export const BULLET = /^\s*(?:[-*•]|\d{1,2}[.)])\s+/;

/** `Ada said, "…" and shared a photo` and `Ada: …` frame what Ada says. */
function unframed(text: string, speaker: string | null): string {
  if (speaker === null || !text.toLowerCase().startsWith(speaker.toLowerCase())) return text;
  const after = text.slice(speaker.length);
  const said = /^\s*(?:said|says|wrote|:)\s*[,:]?\s*/i.exec(after);
  if (said === null) return text;
  const words = after.slice(said[0].length);
  const end = words.lastIndexOf('"');
  return words.startsWith('"') && end > 0 ? words.slice(1, end) : words;
}

const TITLE =
  /^(?:\p{Lu}|\d)[\p{L}\p{N}'’&:,-]*(?: (?:\p{Lu}|\d|of|the|a|an|and|to|in|on|for|with|from|by)[\p{L}\p{N}'’&:,-]*){0,8}$/u;

/** A title stays. Somebody else's words in quotation marks become "§", which no phrase may contain. */
function withoutQuotations(line: string): string {
  return line.replace(/["“”„«]([^"“”„«»]{0,300})["“”»]/gu, (whole, inner: string) => {
    const words = inner.trim().replace(/[,.!]$/, "");
    return TITLE.test(words) ? `"${words}"` : whole.length > 0 ? " § " : whole;
  });
}

const ABBREVIATED = /(?:^|\s|\()(?:Mr|Mrs|Ms|Dr|Prof|St|vs|e\.g|i\.e|etc|approx|No|Jr|Sr|[A-Z])\.$/;

/** Many state something and ask in one breath: "I'm a nurse, can you explain this to me?" */
const REQUEST =
  /(?:[,;]| [-–—]) (?:(?:so|and|but) )?(?=(?:can|could|would|will) you\b|should i\b|how (?:can|do|should|would) (?:i|we)\b|what(?:'s| is| are| would be) (?:the|a|some|your)\b|do you (?:have|know|think)\b|(?:is|are) there\b|any (?:tips|ideas|advice|suggestions|recommendations)\b|here(?:'s| is) (?:my|the|what|an?)\b)/i;
const ASKING =
  /^(?:do|does|did|is|are|am|was|were|can|could|should|would|will|have|has|what|why|how|when|where|who|which|whether)\b/i;

function sentencesOfLine(line: string): Sentence[] {
  const found: Sentence[] = [];
  let start = 0;
  const keep = (text: string, question: boolean) => {
    if (text.length > 3 && text.length <= LONGEST) found.push({ text, question });
  };
  const push = (end: number, mark: string) => {
    const text = line.slice(start, end).trim();
    const question = mark.includes("?");
    start = end + mark.length;
    const asked = REQUEST.exec(text);
    if (asked === null) {
      keep(text, question);
      return;
    }
    const said = text.slice(0, asked.index).trim();
    keep(said, question && ASKING.test(said));
    const request = text.slice(asked.index + asked[0].length);
    const next = request.search(/, (?=(?:i|i'm|i've|we|we're|we've|my|our)\b)/i);
    if (next !== -1) keep(request.slice(next + 2), question);
  };
  for (const match of line.matchAll(/[.!?…]+["')\]]?(?=\s|$)|[.!?…]{2,}/g)) {
    const mark = match[0];
    if (mark === "." && ABBREVIATED.test(line.slice(Math.max(start, match.index - 8), match.index + 1))) continue;
    push(match.index, mark);
  }
  push(line.length, "");
  return found;
}

/** An emoji ends a sentence. Blanks have been made single before: two runs of them around an emoji would be matched in every split. */
const PICTURE = / ?(?:\p{Extended_Pictographic}\ufe0f?|[\u{1f3fb}-\u{1f3ff}]|\u200d|<3)+ ?/gu;

export function sentencesOf(text: string, speaker: string | null): Sentence[] {
  const found: Sentence[] = [];
  let fenced = false;
  for (const raw of unframed(text.trim(), speaker).split(/\r?\n/)) {
    if (isFence(raw)) fenced = !fenced;
    else if (!fenced && isSpoken(raw)) {
      const words = raw.replace(BULLET, "").replace(/\s+/g, " ");
      const line = words.replace(PICTURE, (_all, at: number) => (at === 0 ? "" : ". "));
      found.push(...sentencesOfLine(withoutQuotations(line.replace(/[‘’]/g, "'"))));
    }
  }
  return found;
}
