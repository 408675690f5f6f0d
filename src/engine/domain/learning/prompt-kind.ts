/** What a prompt is to the conversation: a nod, a correction, or something new. English and German, precision before recall. */

const NODS = new Set(
  `y yes yep yeah yup ya ok okay k kk sure continue go on ahead proceed please do it that so sounds good great perfect thanks
  thank you nice cool fine lgtm next keep going carry alright right correct exactly awesome excellent
  ja jo jep jap klar gut passt mach weiter weitermachen bitte danke los gerne genau super prima fahre fort ist in ordnung`.split(
    /\s+/,
  ),
);
/** "go on", not "on": at least one of them must be there. */
const NODDING =
  /\b(?:y|yes|yep|yeah|yup|ok|okay|k|kk|sure|continue|go|proceed|do it|good|great|perfect|thanks|thank|nice|cool|fine|lgtm|next|keep going|carry on|alright|right|correct|exactly|awesome|excellent|ja|jo|jep|jap|klar|gut|passt|weiter|weitermachen|bitte|danke|los|gerne|genau|super|prima|fahre fort|in ordnung)\b/;
const LONGEST_NOD = 48;

/** Nothing but assent, or the number of a choice: it says nothing without what came before. */
export function isNod(prompt: string): boolean {
  const text = prompt.trim().toLowerCase();
  if (text === "" || text.length > LONGEST_NOD || text.includes("?")) return false;
  if (
    /^(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\u200d|\ufe0f|\s)+$/u.test(text) ||
    /^(?:\d{1,2}|[a-e])[.)]?$/.test(text)
  )
    return true;
  const words = text.split(/[^\p{L}\p{N}']+/u).filter(Boolean);
  return words.length > 0 && words.every((word) => NODS.has(word)) && NODDING.test(words.join(" "));
}

const COURTESY =
  /^(?:you(?:'|’)?re (?:very |most )?welcome|you are (?:very |most )?welcome|no problem|any ?time|my pleasure|glad (?:to|i|that|it)|happy to help|(?:just )?let me know if|of course!?$|gern(?:e| geschehen)?\b|kein problem|freut mich|bitte(?: sehr| schön)?\b)/;
const LONGEST_COURTESY = 200;

/** What an agent answers to a nod when there is nothing left to do or to say. */
export function isCourtesy(reply: string): boolean {
  const text = reply.trim().toLowerCase();
  return isNod(text) || (text.length <= LONGEST_COURTESY && COURTESY.test(text));
}

/** Not "no problem", and not an answer to a question of the agent. */
const POLITE =
  /^(?:no|nope|nah|nein|nee)\b[,.!]?\s*(?:thanks|thank you|problem|worries|need|rush|hurry|danke|problem|not (?:yet|now)|noch nicht|(?:that's|it's|that is|it is|all) (?:fine|ok|okay|good|all|right|correct)|alles gut|passt)\b/;

const AT_START: readonly RegExp[] = [
  /^(?:no|nope|nah|nein|nee)[,.!:;]+\s*\S|^(?:no|nein|nee)\s+[-–—]\s*\S|^no (?:no|don't|do not|you|i (?:said|meant)|use|that)\b/,
  /^(?:stop|wait|halt|stopp)[,.!:]+\s+(?:no|don't|do not|that|you|use|i|this|das|du|nicht|nein)\b/,
  /^(?:actually|eigentlich)[, ]+(?:please )?(?:use|don't|do not|make it|keep|put|it should|it's|that's|i (?:want|wanted|meant|prefer)|we (?:use|want|need)|nimm|nutze|verwende|soll|sollte|wollte|ich (?:will|wollte|meinte))\b/,
  /^(?:please |bitte )?(?:stop|quit) (?:doing|using|adding|making|changing|creating|writing|putting|trying|guessing|asking|editing|removing|deleting|committing|pushing|apologi[sz]ing|repeating|ignoring|touching|(?:re)?formatting|mocking|generating|renaming|rewriting)\b/,
  /^(?:please |bitte )?(?:undo|revert|roll back|rollback) (?:that|this|it|those|these|your|what you|the (?:last|previous)|all (?:of )?(?:that|your))\b/,
  /^(?:please )?(?:use|call it|name it|put it|write|make it|take) [^.?!]{1,60}(?:, not|,? and not| instead of| rather than) \S/,
  /^(?:it's |it is |it should be |use |that's )?not (?!only\b|just\b|sure\b|perfect\b|bad\b|great\b|ideal\b|necessarily\b|yet\b|really\b|very\b|too\b)[^.?!,]{1,40},? but (?:rather |instead )?\S/,
  /^(?:wrong|incorrect|falsch)\b(?!\?)/,
  /^not (?:that|this|there|like (?:that|this)|what i)\b/,
  /^(?:hör auf|lass das|das war (?:falsch|nicht)|mach das (?:wieder )?rückgängig|nimm (?:lieber|stattdessen)|nicht so\b|stattdessen\b)/,
  /\bnicht [^.?!]{1,60}, sondern \S/,
];

/** In the first or second sentence. */
const IN_SENTENCE: readonly RegExp[] = [
  /^(?:but |and |aber )?(?:that's|that is|this is|it's|you're|you are) (?:still |just |completely |totally |simply |all )?(?:wrong|incorrect|not (?:right|correct|true|what i (?:asked|meant|wanted|said)))\b/,
  /^(?:but |as |like |aber |wie )?i (?:already )?(?:said|told you|meant|asked (?:you )?(?:for|to)|(?:didn't|did not|never) (?:ask|asked|say|said|want|mean))\b/,
  /^(?:but |aber )?you (?:forgot|missed|misunderstood|misread|broke|ignored|shouldn't have|should not have|were supposed to|used the wrong|changed the wrong|deleted the wrong)\b/,
  /^(?:please )?(?:don't|do not|never) do (?:that|this|it)(?: again)?\b/,
  /^(?:aber )?das (?:ist|war) (?:immer noch |so |leider )?(?:falsch|nicht (?:richtig|korrekt|das,? was|was ich))\b|^das stimmt (?:so |aber )?nicht\b/,
  /^(?:aber |wie )?ich (?:sagte|habe (?:doch )?gesagt|hatte gesagt|meinte|wollte (?:nicht|kein))\b/,
  /^(?:aber )?du (?:hast (?:[\p{L}]+ ){0,4}(?:vergessen|übersehen|missverstanden|kaputt)|solltest (?:doch |nicht )?)\b/u,
];
const LOOKED_AT = 400;

/** Sets right what came before. */
export function isCorrection(prompt: string): boolean {
  const text = prompt.slice(0, LOOKED_AT).trim().toLowerCase().replace(/[’‘]/g, "'").replace(/\s+/g, " ");
  if (POLITE.test(text)) return false;
  if (AT_START.some((pattern) => pattern.test(text))) return true;
  const sentences = text.split(/(?<=[.!?;:])\s+|,\s+/).slice(0, 2);
  return sentences.some((sentence) => IN_SENTENCE.some((pattern) => pattern.test(sentence)));
}
