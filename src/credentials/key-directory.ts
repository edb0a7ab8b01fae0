import type { VerificationKeys } from './verification-keys.ts';

/** Finds the places of keys in their list by what the configuration says of them. */
export interface KeyDirectory {
  readonly all: readonly number[];
  /** The first place of a key; `undefined` for one that is not in the list. */
  placeOf(key: string): number | undefined;
  /** The keys of the same merchant of the same partner, itself included: its generations. */
  generationsOf(place: number): readonly number[];
  /** The keys of a partner (`partnerId` or `partnerCode`), of a merchant (its name), or of a merchant of a partner. */
  named(of: { readonly partner?: string; readonly merchant?: string }): readonly number[];
}

/** Made once for each list of keys, in time and space proportional to it. */
export function keyDirectory({ keys, labels, partners }: VerificationKeys): KeyDirectory {
  const places = new Map<string, number>();
  const byName = new Map<string, number[]>();
  const generations = new Map<string, number[]>();

  const groups = labels.map(({ merchant, partnerId, partnerCode }, place) => {
    // Two sets of credentials may hold the same key: the first one is reported.
    const key = keys[place] ?? '';
    if (!places.has(key)) places.set(key, place);
    for (const partner of new Set([partnerId, partnerCode])) {
      if (partner === undefined) continue;
      add(byName, nameOf({ partner }), place);
      if (merchant !== undefined) add(byName, nameOf({ partner, merchant }), place);
    }
    if (merchant !== undefined) add(byName, nameOf({ merchant }), place);
    return add(generations, JSON.stringify([partners[place], merchant]), place);
  });

  return {
    all: keys.map((_, place) => place),
    placeOf: (key) => places.get(key),
    generationsOf: (place) => groups[place] ?? none,
    named: (of) => byName.get(nameOf(of)) ?? none,
  };
}

const none: readonly number[] = Object.freeze([]);

function nameOf({ partner = '', merchant = '' }: Parameters<KeyDirectory['named']>[0]): string {
  return `${partner}\n${merchant}`;
}

function add(lists: Map<string, number[]>, name: string, place: number): readonly number[] {
  const list = lists.get(name) ?? [];
  if (list.length === 0) lists.set(name, list);
  list.push(place);
  return list;
}
