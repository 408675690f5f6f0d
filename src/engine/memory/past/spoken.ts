/** Who had spoken where by a moment. */
import type { SaidWhere, Timeline } from "../../domain/past/timeline.ts";

export interface SpokenThen {
  readonly scope: string;
  readonly session: string | null;
  /** First word of the speaker's name, in lower case: see engine/store/memories/names.ts. */
  readonly name: string;
  readonly since: Date;
}

/** The people of these names and everyone in these sessions, as far as an episode of theirs was there then. */
export function spokenThen(
  timeline: Timeline,
  wanted: { readonly names: readonly string[]; readonly sessions: readonly string[] },
  until: Date,
): SpokenThen[] {
  const moment = until.getTime();
  const names = new Set(wanted.names);
  const sessions = new Set(wanted.sessions);
  const spoken = new Map<string, SpokenThen>();
  const note = (told: SaidWhere | undefined) => {
    if (told === undefined || told.since > moment) return;
    const { type, scope, name } = told.birth;
    if (type !== "episode" || name === undefined) return;
    const session = told.session ?? null;
    if (!names.has(name) && !(session !== null && sessions.has(session))) return;
    const key = JSON.stringify([scope, session, name]);
    const known = spoken.get(key);
    if (known === undefined || known.since.getTime() > told.since)
      spoken.set(key, { scope, session, name, since: new Date(told.since) });
  };
  for (const name of names) {
    const { firsts, loose } = timeline.spokenIn(name);
    for (const first of firsts) note(first);
    for (const line of loose) note(timeline.saidAt(line, moment));
  }
  for (const session of sessions) for (const line of timeline.inSession(session)) note(timeline.saidAt(line, moment));
  return [...spoken.values()];
}
