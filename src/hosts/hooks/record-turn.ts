/** What a hook leaves for later: where its session's transcript is, or the words of a turn where there is no transcript for us. */

import { within } from "../../daemon/pause.ts";
import { episodeOf } from "../transcripts/episodes.ts";
import { askedOf, exchangeOf } from "../transcripts/prompt-reply.ts";
import { isTranscriptAgent } from "../transcripts/read.ts";
import { faultOf } from "./fault.ts";
import { type HookState, nowOf, type SessionEvent } from "./hook-state.ts";
import { spoolRow } from "./spool/rows.ts";
import { announceAside, standingAt } from "./spool/sessions.ts";

/**
 * Resolves when it is written: what an answer leaves behind outlives this process. Of a prompt in a session whose transcript is written down
 * already, the word that its agent works is waited for no longer than the model takes: beside a busy disk it took up to 0.1 s, and an owner
 * that is killed before has lost nothing, because the end of the turn tells the same transcript.
 */
export async function recordTurn(state: HookState, event: SessionEvent): Promise<void> {
  const { by, agent, butler, project, key, reading } = event;
  const { moment, session, folder, transcript } = reading;
  if (transcript === undefined || by !== "local" || !isTranscriptAgent(agent)) {
    recordWords(state, event);
    return;
  }
  const entry = { by, agent, session, butler, transcript, folder, project, ...standingAt(moment) };
  const place = JSON.stringify([transcript, folder, project]);
  const isKnown = state.announced.get(key) === place;
  const written = state
    .announcing(() => announceAside(state.home, entry, event.gone))
    .then(() => state.announced.set(key, place));
  if (moment !== "prompt" || !isKnown) await written;
  else if (!(await within(state.noteMs, written)))
    written.catch((error: unknown) => state.log.error({ reason: faultOf(error) }, "a transcript could not be noted"));
  if (moment === "turn-end" || moment === "end") state.pickup.soon(key);
}

/** Some agents send the prompt with one event and the reply with another. */
function recordWords(state: HookState, { by, agent, butler, project, key, reading }: SessionEvent): void {
  const { moment, session, folder, prompt, reply } = reading;
  if (moment === "prompt" && prompt !== undefined) state.prompts.hold(key, prompt);
  if (moment !== "turn-end" || reply === undefined) return;
  const asked = prompt === undefined ? state.prompts.of(key) : askedOf(prompt);
  const exchange = exchangeOf(asked, reply, nowOf(state));
  if (exchange) {
    const row = episodeOf(exchange, { agent, session, folder, project });
    spoolRow(state.home, { by, butler, project, row });
  }
  state.pickup.rowsSoon();
}
