/** Who had spoken where by a moment. */
import type { Line, Timeline } from "../../domain/past/timeline.ts";

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
  const lines = new Set<Line>([
    ...wanted.names.flatMap((name) => timeline.spokenBy(name)),
    ...wanted.sessions.flatMap((session) => timeline.inSession(session)),
  ]);
  const names = new Set(wanted.names);
  const sessions = new Set(wanted.sessions);
  const spoken = new Map<string, SpokenThen>();
  let last: SpokenThen | undefined;
  for (const line of lines) {
    const told = timeline.saidAt(line, until.getTime());
    if (told?.birth.type !== "episode" || told.birth.name === undefined) continue;
    const { since } = told;
    const { scope, name } = told.birth;
    const session = told.session ?? null;
    if (!names.has(name) && !(session !== null && sessions.has(session))) continue;
    // Turns of a session come one after the other, mostly.
    if (last?.session === session && last.scope === scope && last.name === name && last.since.getTime() <= since)
      continue;
    const key = JSON.stringify([scope, session, name]);
    const known = spoken.get(key);
    last =
      known !== undefined && known.since.getTime() <= since ? known : { scope, session, name, since: new Date(since) };
    spoken.set(key, last);
  }
  return [...spoken.values()];
}
