/** The array with more room, and all that the one before it holds. */
export function withRoom<T extends { set(before: T): void }>(next: T, before: T): T {
  next.set(before);
  return next;
}
