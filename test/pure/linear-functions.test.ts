import { describe, expect, it } from "vitest";
import { pathKey, projectKey, remoteKey } from "../../src/doors/project-key.ts";
import { learn } from "../../src/engine/adapters/extractor/local/collect.ts";
import { openTokenizer } from "../../src/engine/adapters/tokenizer/gpt.ts";
import { agreement } from "../../src/engine/domain/learning/agreement.ts";
import { distil } from "../../src/engine/domain/learning/distil.ts";
import { exchangeText, turnsOf } from "../../src/engine/domain/learning/exchange.ts";
import { gistOf, retold, teachesNothing } from "../../src/engine/domain/learning/gist.ts";
import { isIdle } from "../../src/engine/domain/learning/idle-prompt.ts";
import { isCorrection, isNod } from "../../src/engine/domain/learning/prompt-kind.ts";
import { junkReasons } from "../../src/engine/domain/lifecycle/junk.ts";
import { overlap } from "../../src/engine/domain/lifecycle/near-duplicates.ts";
import { askedFor } from "../../src/engine/domain/ranking/asked-for.ts";
import { readIntent } from "../../src/engine/domain/ranking/intent.ts";
import { told } from "../../src/engine/domain/ranking/told-times.ts";
import { redact } from "../../src/engine/domain/redaction/redact.ts";
import { lexemes } from "../../src/engine/domain/text/lexemes.ts";
import { possibleNames, withoutNames } from "../../src/engine/domain/text/names.ts";
import { neutral, neutralLine } from "../../src/engine/domain/text/neutral.ts";
import { withoutOwnBlock } from "../../src/engine/domain/text/own-block.ts";
import { withoutPasted } from "../../src/engine/domain/text/pasted.ts";
import { hider, withoutPrivate } from "../../src/engine/domain/text/private.ts";
import { stem } from "../../src/engine/domain/text/stemmer.ts";
import { SUMMARY_SIZE, summarise } from "../../src/engine/domain/text/summary.ts";
import { cleanText, clip, contentKey, isBlank, normaliseKey } from "../../src/engine/domain/text/text.ts";
import { readGitConfig } from "../../src/hosts/projects/git-config.ts";
import { answerTo } from "../../src/hosts/transcripts/claude-code.ts";
import { jsonOf } from "../../src/hosts/transcripts/lines.ts";
import { failureLine, onlyReads, shortPath, toolTag, withoutHostText } from "../../src/hosts/transcripts/words.ts";
import { pumped, REPEATED, steepness } from "../support/growth.ts";
import { episode, material } from "../support/material.ts";

const NOTHING = { user: [], agent: [], did: [], failed: [], decided: [] };
const tokenizer = await openTokenizer("o200k_base");

/** Everything that reads text which strangers can write. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  "an exchange's prompt": (text) => exchangeText({ ...NOTHING, user: [text] }),
  "an exchange's answer": (text) =>
    exchangeText({ ...NOTHING, user: ["go on please"], agent: [text], did: [text, text] }),
  "turns of an exchange": turnsOf,
  "our own block": withoutOwnBlock,
  "what is private": withoutPrivate,
  "hiding what is private": (text) => hider([text.slice(0, 2_000)])(text),
  redaction: redact,
  neutral,
  "neutral line": neutralLine,
  summary: (text) => summarise(text, SUMMARY_SIZE.mid),
  distil,
  "local extractor": (text) => learn(material([episode("e1", text)])),
  "local extractor, a named speaker": (text) => learn(material([episode("e1", `Ada: ${text}`, { speaker: "Ada" })])),
  intent: readIntent,
  "what is asked for": (text) => askedFor(text, [text.slice(0, 20)]),
  "times and persons": told,
  junk: junkReasons,
  "prompt kind": (text) => isNod(text) || isCorrection(text),
  "idle or not": isIdle,
  "what is pasted": withoutPasted,
  "the gist of a prompt": (text) => gistOf(`User: ${text}`),
  "the gist of an answer": (text) => gistOf(`User: fix the parser\nAgent: ${text}\nFailed: ${text}\nDid: ${text}`),
  "the gist of a text": gistOf,
  "an episode retold": (text) => [retold(`User: ${text}\nAgent: ${text}`), teachesNothing(`User: ${text}`)],
  lexemes,
  stem,
  names: (text) => withoutNames(text, possibleNames(text)),
  overlap: (text) => overlap(text, `${text}.`),
  agreement: (text) => agreement(text, `${text}.`),
  "content key": contentKey,
  "key of a subject": normaliseKey,
  "blank or not": isBlank,
  "clean text": cleanText,
  clip: (text) => clip(text, 600),
  tokens: (text) => tokenizer.count(text),
  "a host's words": withoutHostText,
  "a tool's tag": toolTag,
  "a shell command": onlyReads,
  "a failure's line": failureLine,
  "a path": (text) => shortPath(text, `${text}/`),
  "a question": (text) => answerTo(text, text),
  "a transcript's line": (text) => jsonOf(`{"a": ${text}`),
  "a project": projectKey,
  "a remote": remoteKey,
  "a place": (text) => pathKey("path", text),
  "git's configuration": (text) => readGitConfig(`[remote "origin"]\n${text}`),
};

describe("work is in proportion to the text", () => {
  it.each(Object.keys(READERS))("%s", (name) => {
    const read = READERS[name] as (text: string) => unknown;
    const steep: string[] = [];
    for (const part of REPEATED) {
      const make = pumped("x <", part, "\u0001");
      const measured = steepness(make, read);
      if (measured !== undefined) steep.push(`${JSON.stringify(make(40))}: ${measured}`);
    }
    expect(steep).toEqual([]);
  });
});
