import { Tokenizer } from "@huggingface/tokenizers";

/** A question and a text as a model reads them, both cut to the length that it takes. */
export interface Pair {
  readonly ids: readonly number[];
  /** 0 for the question's part and 1 for the text's, where the vocabulary draws that line. */
  readonly segments: readonly number[];
}

/** A pasted page as a question must not push the text out of the pair. */
const QUESTION_PIECES = 64;
/** As many positions as BERT-like models learn. */
const PAIR_PIECES = 512;
/** Pieces are seldom longer. Of a text of 200,000 letters this cuts up the first 8,000, which takes 3 ms. */
const CHARACTERS_PER_PIECE = 16;

/** Makes pairs by the rules of a `tokenizer.json`. Throws when the file does not say how a pair is joined. */
export function pairReader(vocabulary: object): (query: string, text: string) => Pair {
  const tokenizer = new Tokenizer(vocabulary, {});
  const join = (query: string[], text: string[]) => tokenizer.post_processor?.post_process(query, text, true);
  // The library cuts nothing off, so the sides are cut first and joined afterwards.
  const marks = join([], [])?.tokens.length ?? 0;
  if (marks === 0) throw new Error("the tokenizer file does not say how a question and a text are joined");

  const pieces = (text: string, most: number) =>
    tokenizer.tokenize(text.slice(0, most * CHARACTERS_PER_PIECE)).slice(0, most);
  const idOf = (piece: string) => tokenizer.token_to_id(piece) ?? tokenizer.model?.unk_token_id ?? 0;

  return (query, text) => {
    const question = pieces(query, QUESTION_PIECES);
    const joined = join(question, pieces(text, PAIR_PIECES - marks - question.length));
    const tokens = joined?.tokens ?? [];
    return { ids: tokens.map(idOf), segments: joined?.token_type_ids ?? tokens.map(() => 0) };
  };
}
