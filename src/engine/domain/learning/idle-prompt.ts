/**
 * What a person says that teaches nothing, whoever reads it later: greetings, thanks, praise, commands of the agent program, and orders for the
 * moment ("run the tests again"). English and German. Only words of closed lists count, so that nothing with a word of its own (a name,
 * a number, "never", "not") is taken for idle.
 */
import { isNod } from "./prompt-kind.ts";

const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/).filter(Boolean));
const phrases = (list: string): readonly string[] =>
  list
    .split("|")
    .map((phrase) => phrase.trim().replace(/\s+/g, " "))
    .filter(Boolean);

/** Whole clauses. */
const TALK = new Set(
  phrases(`test | testing | hi | hey | hello | heya | yo | hi there | hello there | hey there | hi again | hello again | hey again | morning | good morning
  | good afternoon | good evening | good day | good night | welcome back | i'm back | back again | back | bye | bye bye | goodbye | ciao | see you
  | see you later | see you tomorrow | see you on monday | talk to you later | have a good one | have a good day | have a nice day
  | have a good weekend | have a nice weekend | have a nice evening | you too | same to you | how are you | how are you doing | what's up
  | thanks | thank you | thx | ty | tysm | cheers | many thanks | thanks a lot | thank you very much | thank you so much | thanks so much | thanks again
  | thanks for that | thanks for the help | thanks for your help | thanks for the explanation | thanks for the info | that helps | that helped | that works
  | that worked | that did it | that was it | that was all | that's all | that's it | that's all for now | that's all for today | that is all
  | that's great | that's good | that's fine | that's perfect | it works | it works now | works | works now | works for me | all good | all done | done
  | great | great work | great job | good | good work | good job | nice | nice work | nice one | nice job | well done | awesome | amazing | brilliant
  | excellent | perfect | wonderful | fantastic | cool | lovely | love it | i love it | looks good | looks great | looks fine | looks good to me
  | looks good now | looking good | sounds good | sounds great | lgtm | lol | haha | hehe | hm | hmm | hmmm | oh | oh ok | oh okay | ah | ah ok
  | ah okay | aha | ah i see | i see | oh i see | got it | understood | makes sense | fair enough | never mind | nevermind | no worries
  | no problem | nothing else | nothing | not now | nope | no | no thanks | no thank you | was a typo | it was a typo | typo | that was a typo | sorry | my bad
  | oops | wow | yay | hooray | finally | ok | okay | right | alright | you're welcome | glad to help | good to know | good to hear
  | hallo | hallo zusammen | moin | moin moin | servus | grüß gott | grüß dich | guten morgen | guten tag | guten abend | gute nacht | bin wieder da
  | bin zurück | tschüss | tschüs | bis morgen | bis später | bis dann | bis montag | schönen tag | schönen tag noch | schönen abend
  | schönen feierabend | schönes wochenende | gleichfalls | dir auch | wie geht's | wie geht es dir | danke | danke dir | danke schön | danke sehr
  | dankeschön | vielen dank | besten dank | herzlichen dank | danke nochmal | danke für die hilfe | merci | das hilft | das hat geholfen
  | das war's | das wars | das war alles | das ist alles | das reicht | das passt | das passt so | passt so | passt | toll | prima | klasse | spitze | super
  | super gemacht | sehr gut | sehr schön | gut gemacht | gute arbeit | sieht gut aus | schaut gut aus | läuft | läuft jetzt | funktioniert | geht
  | geht jetzt | es geht | es läuft | perfekt | wunderbar | ach so | achso | aha | verstehe | verstanden | alles klar | alles gut | kein problem
  | macht nichts | nichts | nichts weiter | sonst nichts | nein | nein danke | nee | egal | war ein tippfehler | tippfehler | ups | entschuldigung | tut mir leid | na gut
  | gern geschehen | freut mich`),
);

const ORDERS =
  words(`run rerun re-run commit push pull fetch merge rebase continue proceed retry try build rebuild compile test lint format restart start
  stop go show list print open close check fix undo redo revert finish tag deploy install execute launch apply save stage stash resume repeat do
  lauf laufen starte start führe aus teste baue bau committe commit committen pushe pushen push pulle merge formatiere zeig zeige öffne prüfe
  behebe fixe fix wiederhole starten weiter weitermachen fortfahren mach mache lass speichere`);

/** What such an order is about: no name, no number, nothing that could differ from one day to the next. */
const ABOUT =
  words(`the a an it its that this them these those all again now please once more then and or also just me for to on in of with up out
  what whatever you your my our can could would will ok okay yes so next same everything anything something finds found first last time
  another one two times here there
  tests test suite suites unit integration e2e spec specs linter lint formatter typecheck type types checker check checks build builds app server dev
  changes change branch main master origin remote pr commit commits push status diff diffs log logs output result results file files changelog
  code script job command program stuff work staged both errors error failing failed failures warnings message locally upstream
  thanks thank thx
  die der das den dem ein eine es sie nochmal noch einmal mal bitte jetzt und dann auch alle alles neu wieder weiter mir uns erneut
  änderungen änderung tests testlauf linter ergebnis ergebnisse ausgabe datei dateien fehler skript server code du kannst könntest laufen lassen durch danke aus`);

const POLITE_QUESTION = /^(?:can|could|would|will) you\b|^(?:kannst|könntest|würdest) du\b/;

/** Commands of agent programs. A path, or a sentence about `/tmp`, is none. */
const COMMAND =
  /^\/(?:add-dir|agents|approvals|bug|clear|compact|config|context|cost|diff|doctor|exit|export|fast|help|hooks|init|login|logout|mcp|memory|model|new|permissions|plan|quit|release-notes|resume|review|rewind|status|usage|vim)(?:\s|$)/;

const LONGEST_ORDER = 14;
const LONGEST = 400;

const plain = (text: string): string => text.trim().toLowerCase().replace(/[’‘`]/g, "'");
const bitsOf = (text: string): string[] => text.split(/[,.!?;:…()–—]+|\s-+\s/).map((bit) => bit.trim());

/** Stand before other small talk, without a comma too: "ok thanks", "lol ok". */
const BEFORE = /^(?:ok|okay|oh|ah|lol|haha|yes|yeah|no|nope|great|nice|good|thanks|thx|ja|nein|gut|super|danke) (?=\S)/;

function isTalk(bit: string): boolean {
  const said = bit.replace(/\s+/g, " ");
  return TALK.has(said) || isNod(said) || TALK.has(said.replace(BEFORE, ""));
}

/** Nothing but greetings, thanks, praise and assent. */
export function isSmallTalk(text: string): boolean {
  if (text.length > LONGEST) return false;
  const bits = bitsOf(plain(text)).filter((bit) => /[\p{L}\p{N}]/u.test(bit));
  return bits.length === 0 ? isNod(text) : bits.every(isTalk);
}

/** An order that is over when it is carried out, in words that every project has. */
function isMomentary(bit: string, asks: boolean): boolean {
  const said = bit.split(/[^\p{L}\p{N}'-]+/u).filter(Boolean);
  if (said.length === 0 || said.length > LONGEST_ORDER || (asks && !POLITE_QUESTION.test(bit))) return false;
  return said.some((word) => ORDERS.has(word)) && said.every((word) => ORDERS.has(word) || ABOUT.has(word));
}

/** Teaches nothing: small talk, a command of the agent program, or orders for the moment. */
export function isIdle(prompt: string): boolean {
  if (prompt.length > LONGEST) return false;
  const text = plain(prompt);
  if (text === "" || COMMAND.test(text) || isSmallTalk(text)) return true;
  const bits = bitsOf(text).filter((bit) => /[\p{L}\p{N}]/u.test(bit));
  const asks = text.includes("?");
  return bits.length > 0 && bits.every((bit) => isTalk(bit) || isMomentary(bit, asks));
}
