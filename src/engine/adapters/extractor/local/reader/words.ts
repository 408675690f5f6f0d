/** Words as the reader compares them, and their shapes: the small words of a sentence stay, all others become their form. */

const WORD = /[\p{L}_]+(?:'\p{L}+)?|\d+|[?!:;"()…-]/gu;

export const wordsOf = (text: string): string[] => text.replace(/[‘’]/g, "'").match(WORD) ?? [];

/** Words whose place in a sentence says what kind of sentence it is. */
const SMALL = new Set(
  `i i'm i've i'd i'll im ive my me mine myself we we're we've we'd we'll our us ours you you're you've your u ur he she they
  them his her their it it's its that that's this these those there there's here a an the no not never none nothing always only
  ever every each all any some both either most more less much many few is are was were be been being am isn't aren't wasn't
  weren't do does did don't doesn't didn't dont doesnt didnt have has had haven't hasn't hadn't can can't cannot could couldn't
  will won't would wouldn't should shouldn't must mustn't may might shall need needs and or but so because bc cause since if
  unless when whenever while until till before after than then as like for from to of in on at by with without into onto over
  under between per via instead rather about around through now today tonight tomorrow yesterday currently again once already
  yet still anymore just really actually btw fyi please pls plz ok okay yes yeah nah hey hi thanks thx sorry lol haha who what
  which where why how whose whoever use uses using used keep keeps go goes get gets got want wants likes love loves hate hates
  prefer prefers make sure let let's lets stop start try run runs one two three first last next new old same other another
  ich mein meine meinen meiner meinem meins mir mich wir unser unsere unseren unserem uns du dein deine dich dir ihr euch er sie
  es ihm ihn ihnen sein seine man der die das den dem des ein eine einen einem einer kein keine keinen keinem keiner nicht nie
  niemals immer nur jede jeder jedes jeden alle alles ist sind war waren bin bist hat haben habe hab hatte hast wird werden wurde
  kann kannst können konnte muss musst müssen soll sollte sollen sollst willst wollen wollte würde würden könnte könntest darf
  dürfen mag möchte gibt geht und oder aber sondern weil denn da dass ob wenn falls als wie für von vom zu zum zur mit ohne bei
  beim im auf aus nach über unter vor seit bis statt durch gegen um jetzt gerade grad heute morgen gestern mal bitte schon noch
  wieder doch halt eben ja nein ne nee danke übrigens diesmal erstmal wer welche welcher wo warum wieso wann dieser diese dieses
  diesen diesem hier dort auch sonst lieber gern gerne anstatt`.split(/\s+/),
);

export const isSmall = (word: string): boolean => SMALL.has(word.toLowerCase());

const ENDING = /(?:ing|ed|ly|tion|s|ung|en|st|t|e)$/;

export function shapeOf(word: string): string {
  const small = word.toLowerCase();
  if (isSmall(word)) return small;
  if (/^\d/.test(word)) return "#";
  if (!/\p{L}/u.test(word)) return word;
  if (/_|\p{Ll}\p{Lu}/u.test(word)) return "code";
  return `${/^\p{Lu}/u.test(word) ? "X" : "x"}${ENDING.exec(small)?.[0] ?? ""}`;
}
