/** One extraction by any model: ask, check the answer, ask once more if it is wrong, add up what was spent. */
import { messageOf } from "../../domain/errors.ts";
import { clip } from "../../domain/text/text.ts";
import { ANSWER_SCHEMA, checkAnswer } from "./answer-schema.ts";
import { type Deadline, deadline } from "./deadline.ts";
import { withoutSecrets } from "./failure.ts";
import {
  type Extracted,
  type Extractor,
  ExtractorFailure,
  type Material,
  NO_USAGE,
  type Provider,
  type Usage,
} from "./port.ts";
import { addUsage, ceilingOf, type Price } from "./pricing.ts";
import { type Prompt, promptFor, repairRequest } from "./prompt.ts";

/** The second question after a wrong answer: that answer, and what is asked now. */
export interface Repair {
  readonly said: string;
  readonly request: string;
}

export interface Said {
  /** The text of the model, or JSON that was parsed already. */
  readonly answer: unknown;
  readonly usage: Usage;
}

/** One call. Fails with `ExtractorFailure`, which carries what this call has spent. */
export type Ask = (prompt: Prompt, repair: Repair | undefined, until: Deadline) => Promise<Said>;

export interface ExtractorSetup {
  readonly provider: Provider;
  readonly model: string;
  readonly maxChars: number;
  /** For the whole extraction, its repair included. */
  readonly timeoutMs: number;
  readonly maxOutputTokens: number;
  readonly price: Price;
  /** Removed from every message. */
  readonly secrets: readonly string[];
  readonly ask: Ask;
}

/** How much of a wrong answer is sent back: its beginning shows what was misunderstood. */
const SAID_CHARS = 8_000;

async function askTwice(setup: ExtractorSetup, prompt: Prompt, until: Deadline): Promise<Extracted> {
  let usage = NO_USAGE;
  const ask = async (repair?: Repair) => {
    try {
      const said = await setup.ask(prompt, repair, until);
      usage = addUsage(usage, said.usage);
      return said;
    } catch (error) {
      if (error instanceof ExtractorFailure) {
        throw new ExtractorFailure(error.kind, error.message, addUsage(usage, error.usage));
      }
      // A full disk or an error of a library must not count as a fault of the episodes.
      const reason = withoutSecrets(messageOf(error), setup.secrets);
      throw new ExtractorFailure("unavailable", `${setup.model} could not be asked: ${clip(reason, 300)}`, usage);
    }
  };
  const first = await ask();
  const checked = checkAnswer(first.answer);
  if (checked.ok) return { answer: checked.answer, usage, repaired: false };
  const said = typeof first.answer === "string" ? first.answer : (JSON.stringify(first.answer) ?? "");
  const second = await ask({ said: said.slice(0, SAID_CHARS), request: repairRequest(checked.problems) });
  const repaired = checkAnswer(second.answer);
  if (repaired.ok) return { answer: repaired.answer, usage, repaired: true };
  const problems = repaired.problems.join("; ");
  throw new ExtractorFailure("invalid_answer", `${setup.model} gave no usable answer, twice: ${problems}`, usage);
}

export function extractorOf(setup: ExtractorSetup): Extractor {
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();

  async function extract(material: Material, signal: AbortSignal): Promise<Extracted> {
    const until = deadline(setup.timeoutMs, signal, closing.signal);
    try {
      if (until.signal.aborted) throw new ExtractorFailure("timeout", `${setup.model} was not asked: ${until.why()}.`);
      return await askTwice(setup, promptFor(material), until);
    } finally {
      until.release();
    }
  }

  return {
    provider: setup.provider,
    model: setup.model,
    maxChars: setup.maxChars,
    ceiling: (material) => {
      const { system, user } = promptFor(material);
      return ceilingOf(system + user + JSON.stringify(ANSWER_SCHEMA), setup.maxOutputTokens, setup.price);
    },
    extract: (material, signal) => {
      const extraction = extract(material, signal);
      running.add(extraction);
      const done = () => running.delete(extraction);
      extraction.then(done, done);
      return extraction;
    },
    close: async () => {
      closing.abort();
      await Promise.allSettled(running);
    },
  };
}
