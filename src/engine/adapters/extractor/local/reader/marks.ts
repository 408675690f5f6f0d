/** Words that hint at what a sentence is for. A mark alone decides nothing: the weights do, of each mark and of each pair. */

export interface Mark {
  readonly name: string;
  /** In lower case; `*` stands for the rest of a word. */
  readonly words: string;
  /** Only at the beginning of a sentence. */
  readonly first?: true;
  readonly example: string;
}

export const MARKS: readonly Mark[] = [
  { name: "we", words: "we|we're|we've|our|us|ours|wir|unser*|uns", example: "In our repo the tests run first" },
  { name: "i", words: "i|i'm|im|i've|i'd|my|me|myself|ich|mein*|mir|mich", example: "I drink tea" },
  {
    name: "general",
    words:
      "always|never|only|must|every|each|all|any|whenever|anywhere|everywhere|by default|from now on|immer|nie|niemals|nur|muss|müssen|jede*|alle*|grundsätzlich|generell|standardmäßig|prinzipiell",
    example: "Tests run before every release",
  },
  {
    name: "task",
    first: true,
    words:
      "can|could|would|will|fix|add|make|write|run|show|give|find|check|look|create|move|rename|delete|remove|update|let|let's|lets|try|put|change|tell|explain|go|set|get|send|draft|build|rewrite|turn|take|help|list|split|bump|revert|open|generate|book|remind|order|call|plan|kannst|kann|könntest|könnten|können|mach|machen|schreib*|gib|geben|zeig*|schau*|such*|bau*|erstell*|füg*|lösch*|nimm|stell*|setz*|änder*|prüf*|lass|lies|bestell*|buch*|erinner*|hilf|sag",
    example: "Please fix the login",
  },
  {
    name: "question",
    first: true,
    words:
      "how|what|why|where|when|who|which|is|are|does|do|did|should|any|wie|was|warum|wieso|weshalb|wo|wann|wer|welche*|ist|sind|hast|hat|soll*|gibt",
    example: "How does it work",
  },
  {
    name: "now",
    words:
      "now|right now|for now|today|tonight|tomorrow|yesterday|this morning|this week|this afternoon|this evening|this time|once|again|currently|at the moment|so far|yet|still|jetzt|gerade|grad|heute|gestern|morgen|diesmal|ausnahmsweise|erstmal|momentan|im moment|aktuell|wieder|noch",
    example: "The build is red today",
  },
  {
    name: "pointing",
    words: "this|that|these|those|here|current one|other one|last one|diese*|hier|da|dort",
    example: "Rename this one",
  },
  {
    name: "if",
    words:
      "if|suppose|imagine|say we|assuming|hypothetically|let's say|wenn|falls|angenommen|stell dir vor|stellen sie sich|gesetzt",
    example: "Suppose they were offline",
  },
  {
    name: "perhaps",
    words:
      "would|could|might|maybe|perhaps|probably|not sure|thinking of|thinking about|wonder*|consider*|possibly|vielleicht|eventuell|überleg*|würde*|könnte*|wäre*|hätte*|womöglich|evtl|unsicher|nicht sicher",
    example: "Maybe a rewrite",
  },
  {
    name: "says",
    words:
      "say|says|said|claims|claimed|quote|recommends|recommended|according to|the docs|the article|blog|book|sagt*|meint*|schreibt|steht|laut|angeblich|behauptet|empfiehlt",
    example: "The blog is wrong",
  },
  {
    name: "not",
    words:
      "not|no|never|don't|dont|doesn't|doesnt|isn't|aren't|won't|can't|cannot|without|nicht|kein*|nie|ohne|niemals",
    example: "No emojis in commits",
  },
  {
    name: "because",
    words: "because|bc|since|so that|cause|as we|weil|denn|damit|deshalb|da wir|sonst|otherwise",
    example: "It is slow because it copies",
  },
  {
    name: "joy",
    words:
      "lol|haha|great|super|wonderful|lovely|fantastic|joy|brilliant|awesome|perfect|love how|exactly what|toll|klasse|herrlich|wunderbar|prima|bravo|großes kino|genau was|danke auch",
    example: "Great, it broke",
  },
  {
    name: "past",
    words:
      "was|were|had|used to|back in|back when|back then|ago|last year|last week|last month|last night|last summer|war|waren|hatte*|damals|früher|letzte*",
    example: "Years ago it ran on one machine",
  },
  {
    name: "trial",
    words:
      "try|let's see|see if|see whether|see what|experiment|temporar*|just for|for the demo|for the moment|quick|probier*|versuch*|mal sehen|testweise|vorübergehend|nur für|nur heute|provisorisch",
    example: "Let's see what happens",
  },
  {
    name: "should",
    words: "should|needs to|need to|has to|have to|must|shall|soll*|muss|müssen",
    example: "It should be blue",
  },
  {
    name: "feature",
    words:
      "button|page|screen|user can|users|form|endpoint|field|dialog|modal|feature|clicked|clicking|header|column|nutzer*|seite|knopf|formular|feld|maske|anwender*",
    example: "A button opens the form",
  },
  {
    name: "likes",
    words:
      "prefer|prefers|like|love|hate|rather|can't stand|favorite|favourite|enjoy|fan of|allergic|mag|liebe|hasse|lieber|bevorzug*|gern*|am liebsten|allergisch|steh auf",
    example: "Tabs rather than spaces",
  },
  {
    name: "decided",
    words:
      "decided|went with|switched|moved|chose|picked|settled|agreed|dropped|going with|sticking|stick with|keeping|booked|signed|entschieden|umgestiegen|gewechselt|bleiben bei|nehmen|geeinigt|beschlossen|festgelegt|gebucht|ausgemacht",
    example: "It was decided on Monday",
  },
  {
    name: "wrong",
    words:
      "nope|wrong|not what|i told you|i said|actually|you keep|stop|it's not|isn't|instead|nein|falsch|stimmt nicht|gesagt|eigentlich|sondern|verwechsel*",
    example: "Wrong, it is Ana",
  },
  {
    name: "who",
    words:
      "owns|own|maintains|handles|in charge|responsible|reports to|works at|works for|works on|is my|is our|sister|brother|wife|husband|mum|mom|dad|mother|father|son|daughter|boss|colleague|neighbour|neighbor|zuständig|verantwortlich|kümmert|frau|mann|chef*|schwester|bruder|mutter|vater|sohn|tochter|kolleg*|nachbar*|leitet|betreut",
    example: "Ana owns billing",
  },
];

const compiled = MARKS.map(({ name, words, first }) => {
  const any = words.replaceAll("*", "[^ ]*");
  const opening = "(?: (?:and|so|ok|okay|now|then|also|please|pls|but|und|dann|bitte|aber))*";
  return { name, pattern: new RegExp(`${first ? `^${opening}` : ""} (?:${any})(?= )`) };
});

/** Forms that no word tells. */
const FORMS: readonly { readonly name: string; readonly pattern: RegExp }[] = [
  { name: "number", pattern: /\d/ },
  { name: "name", pattern: /[^.!?\s]\s+\p{Lu}\p{Ll}{2}/u },
  { name: "code", pattern: /[_/]\w|\w\.\w{2,4}\b|`|\(\)|--\w/ },
  { name: "quoted", pattern: /["“”„«»]/ },
  { name: "colon", pattern: /:/ },
  { name: "trailing", pattern: /\.\.\.|…/ },
  { name: "loud", pattern: /!/ },
];

/** `words`: those of the text, in lower case. */
export function marksOf(text: string, words: readonly string[]): string[] {
  const line = ` ${words.join(" ")} `;
  return [
    ...compiled.filter(({ pattern }) => pattern.test(line)).map(({ name }) => name),
    ...FORMS.filter(({ pattern }) => pattern.test(text)).map(({ name }) => name),
  ];
}
