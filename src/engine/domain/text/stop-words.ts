/**
 * Function words that say nothing about a memory's subject. The list shapes ranking only: nothing is hidden because of it.
 * Left out on purpose: words that are also content or names ("won", "don", "will", "may", "might", "mine", "like") and
 * negations that turn a sentence around ("never"). Contractions stand here without their apostrophe.
 */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above after again against all also am an and any are as at
  be because been before being below between both but by
  can cannot could did do does doing done down during
  each either else few for from further
  had has have having he her here hers herself him himself his how
  i if in into is it its itself just
  let me more most my myself no nor not now
  of off on once only or other our ours ourselves out over own
  same she should so some such
  than that the their theirs them themselves then there these they this those through to too
  under until up upon us very
  was we were what when where which while who whom whose why with would
  you your yours yourself yourselves
  d ll m re s t ve
  aint arent cant couldnt didnt doesnt dont hadnt hasnt havent isnt mightnt mustnt neednt shant shouldnt
  wasnt werent wont wouldnt`.split(/\s+/),
);
