/** Reciprocal rank fusion: each list votes 1 / (k + rank); the sum is scaled so that first place everywhere is 1. */
export const RRF_K = 60;

export function fuse(lists: readonly (readonly string[])[], k = RRF_K): Map<string, number> {
  const votes = new Map<string, number>();
  for (const list of lists)
    list.forEach((id, index) => {
      votes.set(id, (votes.get(id) ?? 0) + 1 / (k + index + 1));
    });
  const best = lists.length / (k + 1);
  for (const [id, sum] of votes) votes.set(id, sum / best);
  return votes;
}
