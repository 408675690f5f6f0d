/** The most recently used values, at most so many: a Map keeps the order in which keys were set, so the first is the one to go. */
export interface LruCache<K, V> {
  /** Undefined when it is not known; what is asked for counts as used. */
  get(key: K): V | undefined;
  set(key: K, value: V): void;
}

export function lruCache<K, V>(most: number): LruCache<K, V> {
  const known = new Map<K, V>();
  const put = (key: K, value: V) => {
    known.delete(key);
    known.set(key, value);
  };
  return {
    get(key) {
      const value = known.get(key);
      if (value !== undefined) put(key, value);
      return value;
    },
    set(key, value) {
      put(key, value);
      const oldest = known.keys().next();
      if (known.size > most && !oldest.done) known.delete(oldest.value);
    },
  };
}
