import type { KeyDirectory } from '../../credentials/key-directory.ts';
import type { KeyHints } from './key-hints.ts';
import type { LearnedKeys } from './learned-keys.ts';

export interface KeyOrderOptions {
  readonly directory: KeyDirectory;
  readonly hints: KeyHints;
  readonly learned: LearnedKeys;
}

/** The place of every key, each once, the likeliest first. */
export function* keyOrder(options: KeyOrderOptions): Generator<number, undefined> {
  const given = new Set<number>();
  for (const places of likelyFirst(options)) {
    for (const place of places) {
      if (given.has(place)) continue;
      given.add(place);
      yield place;
    }
  }
}

function likelyFirst({ directory, hints, learned }: KeyOrderOptions): (readonly number[])[] {
  const { order, sender, partners, merchants } = hints;
  const known: number[] = [];
  for (const hint of [order, sender]) {
    const key = hint === undefined ? undefined : learned.get(hint);
    // A key that was rotated out has no place.
    const place = key === undefined ? undefined : directory.placeOf(key);
    if (place !== undefined) known.push(place);
  }
  const lists: (readonly number[])[] = [known];
  for (const partner of partners) {
    for (const merchant of merchants) lists.push(directory.named({ partner, merchant }));
  }
  for (const place of known) lists.push(directory.generationsOf(place));
  for (const partner of partners) lists.push(directory.named({ partner }));
  for (const merchant of merchants) lists.push(directory.named({ merchant }));
  lists.push(directory.all);
  return lists;
}
