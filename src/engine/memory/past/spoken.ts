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
  const spoken = new Map<string, SpokenThen>();
  for (const line of lines) {
    const told = timeline.at(line, until.getTime());
    if (told?.type !== "episode" || told.name === undefined) continue;
    const { scope, name, standing, since } = told;
    const session = standing.session ?? null;
    if (!wanted.names.includes(name) && !(session !== null && wanted.sessions.includes(session))) continue;
    const key = JSON.stringify([scope, session, name]);
    const known = spoken.get(key);
    if (known === undefined || known.since.getTime() > since)
      spoken.set(key, { scope, session, name, since: new Date(since) });
  }
  return [...spoken.values()];
}
