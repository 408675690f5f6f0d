/** A less trusted source contradicts a fact: the fact stays with a lower confidence, and the claim is kept beside it. */

import type { Fact } from "../../domain/fact.ts";
import type { Trust } from "../../domain/learning/trust.ts";
import { doubtedInSight } from "../../domain/lifecycle/doubt.ts";
import { reviewEnd } from "../../domain/lifecycle/quarantine.ts";
import type { Link } from "../../domain/link.ts";
import { NOT_SHOWN } from "../../domain/sealed.ts";
import { sameMeaning } from "../../domain/text/text.ts";
import { setVisibility } from "../../store/index/vectors.ts";
import { changeFact, claimsAgainst } from "../../store/memories/facts.ts";
import { insertLinks } from "../../store/memories/links.ts";
import type { Call } from "../memory.ts";
import { isSecret, sealFor } from "../sealing.ts";
import type { Writing } from "../write.ts";
import { visibleUntil } from "./index-memory.ts";

const WHO: Readonly<Record<Trust, string>> = {
  user: "the user said",
  agent: "an agent said",
  imported: "an import says",
  tool: "a tool said",
};

/** It is kept with the answer under the key of the call, so that it holds no content that is encrypted. */
export const contradictedNote = ({ memory }: Call, { trust, predicate, content }: Fact): string =>
  `Not believed: ${WHO[trust]} otherwise (${isSecret(memory, predicate) ? NOT_SHOWN : JSON.stringify(content)}), and that stays. Yours is kept as a claim; only ${
    trust === "user" ? "the user's own words or command line replace" : "a source that is trusted as much replaces"
  } it.`;

export const echoNote = ({ trust }: Fact): string => `Known already, ${WHO[trust]} so; nothing was changed.`;

/** An earlier claim against the fact in the same words. */
export async function claimBefore(
  call: Call,
  { sql }: Writing,
  live: Fact,
  content: string,
): Promise<Fact | undefined> {
  const claims = await claimsAgainst(sql, call.caller.tenant, live.id);
  return claims.find((claim) => sameMeaning(claim.content, content));
}

/** Lowers the confidence of a fact: to `confidence`, or else by the usual share, but not so far that it is no longer retrieved. */
export async function doubtFact(
  call: Call,
  { sql, tell }: Writing,
  fact: Fact,
  why: {
    readonly links?: readonly Link[];
    readonly claim?: string;
    readonly by?: string;
    readonly run?: string;
    /** Only a source that is trusted as much as the fact may give it. */
    readonly confidence?: number | undefined;
  },
): Promise<void> {
  const { confidence: given, claim, ...others } = why;
  const secret = claim !== undefined && isSecret(call.memory, fact.predicate);
  const told = secret ? sealFor(call.memory, call.caller.tenant, claim) : claim;
  const rest = { ...others, ...(told === undefined ? {} : { claim: told }) };
  const threshold = call.memory.settings.facts.retrieval_confidence_threshold;
  const set = {
    confidence: given ?? doubtedInSight(fact, call.now, threshold),
    review_until: reviewEnd(call.now),
  };
  await changeFact(sql, fact.id, fact.validity, set);
  await setVisibility(sql, fact.id, visibleUntil(call.memory, { ...fact, ...set }, fact.valid_to));
  await insertLinks(sql, rest.links ?? []);
  const payload = { set, from: fact.validity, before: fact.confidence, ...rest };
  tell({ type: "fact.contradicted", entity: { type: "fact", id: fact.id }, scope: fact.scope, payload });
}
