/** Which key verified what, for hints whose meaning the configuration does not say. */
export interface LearnedKeys {
  get(hint: string): string | undefined;
  /** To be called for verified bodies alone: otherwise anybody could push out what is known. */
  learn(entry: { readonly hint: string; readonly key: string; readonly maxSize: number }): void;
}

/**
 * Remembers at least the newest half of `maxSize`. Two halves, of which the older one is dropped as a whole: a Map from
 * which the oldest entry is deleted each time steps over all those deleted before.
 */
export function learnedKeys(): LearnedKeys {
  let newer = new Map<string, string>();
  let older = new Map<string, string>();
  return {
    get: (hint) => newer.get(hint) ?? older.get(hint),
    learn({ hint, key, maxSize }) {
      if (newer.size >= maxSize / 2 && !newer.has(hint)) {
        older = newer;
        newer = new Map();
      }
      newer.set(hint, key);
    },
  };
}
