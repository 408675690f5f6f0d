/**
 * What an assistant could know of a person, one entry per topic: a fact, a rule and three episodes about the same topic, so
 * that a name and a topic alone do not tell which of them is asked for.
 */
export interface Matter {
  /** Predicates of its facts; the first is the one that is asked for. */
  readonly facts: readonly { readonly predicate: string; readonly content: string }[];
  readonly values: readonly string[];
  readonly rule: string;
  /** The first one can be asked for. */
  readonly episodes: readonly string[];
  /** Questions for the fact (of a person) or for the rule (of a project). */
  readonly asks: readonly string[];
  /** Questions for the first episode. */
  readonly eventAsks: readonly string[];
}

export const list = (text: string): readonly string[] => text.split(";").map((one) => one.trim());
const fact = (predicate: string, content: string) => [{ predicate, content }];

export const IDENTITY: readonly Matter[] = [
  {
    facts: fact("occupation", "{who} works as {value}."),
    values: list(
      "a surveyor; a pharmacist; a violin maker; a harbour pilot; a translator; a patent clerk; a midwife; a map maker; a glazier; an actuary",
    ),
    rule: "Never call {who} during working hours; send a message and wait for the answer.",
    episodes: list(
      "A competitor offered {who} a better paid position, and {who} turned it down; {who} came home exhausted from work and skipped dinner; {who} told a long story about a colleague who had quit the job",
    ),
    asks: list(
      "What does {who} do for a living?; What is {who}'s job?; I have to introduce {who} to the guests, remind me of the profession.",
    ),
    eventAsks: list("What happened with the job offer {who} got?; When did {who} decline to change employers?"),
  },
  {
    facts: fact("lives_in", "{who} has a flat in {value}, near the station."),
    values: list("Porto; Ghent; Turin; Malmo; Graz; Cork; Tartu; Bergen; Utrecht; Lyon"),
    rule: "Before dropping by at {who}'s flat, ring the bell twice, because the neighbour is hard of hearing.",
    episodes: list(
      "A pipe burst above {who}'s flat and the kitchen was under water; {who} looked at two houses in the country and liked neither; We helped {who} carry a wardrobe up four floors",
    ),
    asks: list(
      "Where does {who} live?; Which city does {who} live in these days?; A parcel for {who} is ready, what town does it go to?",
    ),
    eventAsks: list("When was the water damage at {who}'s place?; What happened to {who}'s kitchen?"),
  },
  {
    facts: fact("sister", "{who}'s sister is called {value}."),
    values: list("Caroline; Sofia; Lise; Rosalind; Maria; Dorothy; Ida; Cecilia; Annie; Henrietta"),
    rule: "When {who}'s sister is in town, keep {who}'s evenings free of work.",
    episodes: list(
      "{who} and the sister quarrelled on the phone about the inheritance; {who} fetched the sister from the airport in heavy rain; {who} posted a box of old photographs to the sister",
    ),
    asks: list(
      "Who is {who}'s sister?; What is the name of {who}'s sister?; I keep forgetting how one addresses {who}'s sister.",
    ),
    eventAsks: list(
      "What did {who} argue about with a sibling?; When did {who} have that fight over what the parents left?",
    ),
  },
  {
    facts: fact("born_on", "{who} was born on {value}."),
    values: list(
      "3 February; 11 March; 29 April; 8 May; 23 June; 16 July; 30 August; 5 September; 19 October; 27 November",
    ),
    rule: "For {who}'s birthday, order the cake a week ahead and without nuts.",
    episodes: list(
      "At {who}'s birthday party the fuse blew and everybody sat in the dark; {who} forgot the birthday of a colleague and was sorry; We wrapped birthday presents for {who} until midnight",
    ),
    asks: list("What is {who}'s birthday?; When is {who}'s birthday?; Tell me {who}'s date of birth for the form."),
    eventAsks: list("What went wrong at {who}'s party?; When did the lights go out while we celebrated {who}?"),
  },
  {
    facts: fact("employer", "{who} is on the staff of {value}."),
    values: list(
      "the harbour authority; a small publishing house; the city library; the railway museum; an insurance company; the weather service; a bicycle factory; the university hospital; the opera; a seed nursery",
    ),
    rule: "Letters to {who}'s office carry the department in the first line.",
    episodes: list(
      "{who}'s office moved to another building and half of the boxes were lost; {who} presented the figures of the year to the board at the office; The head of department praised {who} in front of the staff",
    ),
    asks: list(
      "Which company does {who} work for?; Who is {who}'s employer?; Who pays {who}'s salary, I need it for the application.",
    ),
    eventAsks: list("What happened when {who} had to relocate at work?; When did {who}'s boxes disappear?"),
  },
  {
    facts: fact("languages", "{who} is fluent in {value}."),
    values: list(
      "Portuguese and Dutch; Finnish and Russian; Italian; Welsh and French; Polish; Turkish and German; Greek; Swedish and Danish; Hungarian; Catalan and Spanish",
    ),
    rule: "Write to {who} in short plain sentences, in one language, without idioms.",
    episodes: list(
      "{who} translated the contract aloud for the visitors from abroad; {who} failed an evening course in a new language and laughed about it; {who} corrected the menu in a restaurant, in two languages",
    ),
    asks: list(
      "What languages does {who} speak?; Which tongues is {who} at home in?; Could {who} talk to somebody from abroad without an interpreter?",
    ),
    eventAsks: list("When did {who} interpret for our guests?; Which document did {who} read to the visitors?"),
  },
  {
    facts: fact("childhood", "{who} was raised {value}."),
    values: list(
      "on an island in the Baltic; on a sheep farm; above a bakery; in a lighthouse; in a mining town; behind a theatre; on a river barge; in a monastery school; at the edge of a forest; in a border village",
    ),
    rule: "When {who} tells stories of childhood, write them down for the family chronicle.",
    episodes: list(
      "{who} met three friends from childhood at the school reunion and came back hoarse; {who} found an old toy from childhood in the attic; {who} showed us the street of the first years on a map",
    ),
    asks: list("Where did {who} grow up?; Where is {who} originally from?; What are {who}'s roots?"),
    eventAsks: list("When was {who}'s school reunion?; How did it go when {who} saw the old classmates again?"),
  },
  {
    facts: fact("pet", "{who} keeps {value}."),
    values: list(
      "a grey cat; two canaries; an old terrier; a tortoise; a pair of rabbits; a greyhound; three goldfish; a parrot; a ginger cat; a hedgehog",
    ),
    rule: "While {who} is away, feed {who}'s pet twice a day and note it in the kitchen book.",
    episodes: list(
      "{who} rushed the pet to the clinic because it had swallowed a button; {who} built a new bed for the pet out of a crate; {who} put up posters because the pet of a neighbour was missing",
    ),
    asks: list("What pet does {who} have?; Does {who} have a dog or a cat?; Which animal lives with {who}?"),
    eventAsks: list("Why did {who} have to see the vet?; What was eaten by {who}'s pet that day?"),
  },
  {
    facts: fact("education", "{who} holds a degree in {value}."),
    values: list(
      "hydrology; art history; number theory; forestry; optics; musicology; law; astronomy; soil science; linguistics",
    ),
    rule: "When {who} explains theory from the university, ask for one example before going on.",
    episodes: list(
      "{who} gave a guest lecture at the university and the projector caught fire; {who} found the old lecture notes of the university in a drawer; {who} was asked to examine two students at the university",
    ),
    asks: list("What did {who} study?; What is {who}'s academic background?; Which subject is {who} an expert in?"),
    eventAsks: list("What happened during {who}'s lecture?; When was there a fire while {who} was speaking?"),
  },
  {
    facts: fact("married_to", "{who} is married to {value}."),
    values: list("Joseph; Pierre; William; Howard; Vincent; Irene; Mileva; Robert; Felix; Clara"),
    rule: "Invite {who} together with the better half, never alone.",
    episodes: list(
      "{who} and the better half missed the last ferry and slept in the car; {who} danced at a wedding until the band went home; {who} bought a ring for the tenth anniversary of the wedding",
    ),
    asks: list(
      "Who is {who}'s partner?; Is {who} married, and to whom?; I am writing a card to {who} and spouse, which two names go on it?",
    ),
    eventAsks: list("What happened when {who} was too late for the boat?; When did {who} spend a night in the car?"),
  },
];

export const PREFERENCE: readonly Matter[] = [
  {
    facts: fact("prefers:coffee", "{who} takes coffee {value}."),
    values: list(
      "black; with oat milk; with two sugars; only before ten; cold, over ice; very weak; with a pinch of salt; in a glass; with cinnamon; without caffeine",
    ),
    rule: "Offer {who} a coffee before a long meeting starts.",
    episodes: list(
      "{who} spilt coffee over the keyboard and the laptop went to repair; {who} queued half an hour for a coffee at the station; {who} brought a coffee grinder home from the flea market",
    ),
    asks: list(
      "How does {who} like the coffee?; I am at the café counter, what should I order for {who}?; Which hot drink would {who} enjoy?",
    ),
    eventAsks: list("How did {who}'s laptop break?; When did {who} ruin the keyboard?"),
  },
  {
    facts: fact("prefers:food", "Nothing at the table makes {who} happier than {value}."),
    values: list(
      "lentil soup; grilled sardines; dumplings; mushroom risotto; potato pancakes; aubergine curry; rye bread with herring; fresh figs; onion tart; rhubarb cake",
    ),
    rule: "At dinner, seat {who} far away from the kitchen door, because of the draught.",
    episodes: list(
      "{who} burnt the dinner and we ordered from the place at the corner; {who} wrote down the dinner recipe of an aunt; {who} had dinner alone on the balcony",
    ),
    asks: list("What is {who}'s favourite food?; What should we cook for {who}?; What does {who} love to eat?"),
    eventAsks: list("When did {who} burn the meal?; Why did we order from outside when {who} was cooking?"),
  },
  {
    facts: fact("prefers:music", "{who} listens to {value} whenever there is a choice."),
    values: list(
      "string quartets; swing; sea shanties; church organs; fado; early synthesizers; brass bands; polkas; lute songs; minimal piano",
    ),
    rule: "Keep the music low while {who} is reading.",
    episodes: list(
      "The power failed in the middle of the concert and {who} sang along in the dark; {who} sold a box of records to a music shop; {who} tuned the piano for the music evening",
    ),
    asks: list(
      "What kind of music does {who} enjoy?; Suggest a concert that {who} would like.; What is {who}'s taste in songs?",
    ),
    eventAsks: list("What happened at the concert {who} went to?; When did {who} sing without light?"),
  },
  {
    facts: fact("prefers:seat", "On trains {who} sits {value}."),
    values: list(
      "at the window; on the aisle; in the quiet coach; facing forward; near the door; in the dining car; on the upper deck; at a table; in the last coach; facing backward",
    ),
    rule: "Buy {who}'s train tickets two weeks ahead and print them.",
    episodes: list(
      "{who} left an umbrella and a scarf on the train and got only the scarf back; {who} waited for a delayed train until two at night; {who} helped a stranger with a pram off the train",
    ),
    asks: list(
      "Which seat does {who} prefer when travelling by rail?; Book a ticket for {who}, the way they like to sit.; Would {who} rather have the window or the aisle?",
    ),
    eventAsks: list("What did {who} lose on a journey?; When did {who} forget an umbrella?"),
  },
  {
    facts: fact("prefers:screen", "{who}'s editor is set to {value}."),
    values: list(
      "dark grey with amber letters; a bright background; very large letters; a serif typeface; high contrast; no line numbers; pale green; two columns; letters of equal width only; black on cream",
    ),
    rule: "Do not touch {who}'s editor settings; show a proposal first.",
    episodes: list(
      "{who}'s editor crashed and an afternoon of notes was gone; {who} taught a trainee to use the editor without a mouse; {who} wrote a small extension for the editor",
    ),
    asks: list(
      "Which theme does {who} want on the screen?; What colours and font does {who} like to work with?; Set up the new computer to {who}'s taste.",
    ),
    eventAsks: list("When did {who} lose the notes?; What did {who} lose in the crash?"),
  },
  {
    facts: fact("prefers:meetings", "{who} wants appointments {value}."),
    values: list(
      "before nine; right after lunch; late in the afternoon; on Tuesdays only; standing up; outdoors; by telephone; never longer than twenty minutes; with an agenda; in the library",
    ),
    rule: "Send {who} a reminder one hour before every appointment.",
    episodes: list(
      "{who} walked out of an appointment because nobody had prepared anything; {who} moved three appointments to another week; {who} arrived first at the appointment and made tea",
    ),
    asks: list(
      "What time of day does {who} prefer to meet?; How does {who} like meetings to be held?; I am planning a talk with {who}, what suits them?",
    ),
    eventAsks: list("Why did {who} leave early?; When did {who} storm out of a meeting?"),
  },
  {
    facts: fact("prefers:holiday", "{who} spends free weeks {value}."),
    values: list(
      "in the mountains; by the sea; on a bicycle; in a monastery; at home; on a sailing boat; in big cities; in a cabin; in museums; on long walks",
    ),
    rule: "During {who}'s holiday, forward only what cannot wait.",
    episodes: list(
      "{who} fell ill on the first day of the holiday and came back early; {who} showed slides of a holiday to the neighbours; {who} packed for the holiday and unpacked again",
    ),
    asks: list(
      "What kind of vacation does {who} like best?; Recommend something for {who}'s summer leave.; Where would {who} love to travel?",
    ),
    eventAsks: list("Why did {who} return ahead of time?; When was {who} sick while travelling?"),
  },
  {
    facts: fact("prefers:gift", "{who} is always glad of {value}."),
    values: list(
      "tulips; dark chocolate; old stamps; candles; fountain pens; seeds for the garden; jigsaw puzzles; wool; tools; postcards",
    ),
    rule: "Gifts for {who} are handed over in private, never in front of others.",
    episodes: list(
      "{who} unpacked a gift that had been broken in the post; {who} returned a gift to the shop with a smile; {who} hid a gift under the stairs",
    ),
    asks: list("What present would {who} like?; Find a gift for {who}.; With what can I make {who} happy?"),
    eventAsks: list("What happened to the thing that came for {who} by post?; When did {who} get something in pieces?"),
  },
  {
    facts: fact("prefers:books", "{who} reads {value} in the evening."),
    values: list(
      "crime novels; travel reports; letters of painters; fairy tales; books on bees; court records; poems; sea stories; diaries; cook books",
    ),
    rule: "Return books that {who} lent you within a month.",
    episodes: list(
      "{who} left a borrowed book in the rain and bought a new copy; {who} sorted the books by colour and regretted it; {who} read from a book at the school",
    ),
    asks: list(
      "What genre does {who} prefer?; Which literature is {who} fond of?; I am in the bookshop, what would {who} enjoy?",
    ),
    eventAsks: list("When did {who} have to replace something borrowed?; What did {who} leave out in bad weather?"),
  },
  {
    facts: fact("prefers:sport", "{who} keeps fit by {value}."),
    values: list(
      "rowing; fencing; climbing; swimming in cold water; table tennis; running at dawn; skating; juggling; gymnastics; riding",
    ),
    rule: "Do not ask {who} for anything during training.",
    episodes: list(
      "{who} sprained an ankle in training and limped for a week; {who} won a small cup after months of training; {who} missed the training because of fog",
    ),
    asks: list(
      "What sport does {who} like?; What is {who}'s favourite exercise?; Which kind of workout is {who} keen on?",
    ),
    eventAsks: list("How did {who} get hurt?; When did {who} injure the foot?"),
  },
];
