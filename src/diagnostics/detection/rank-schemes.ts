import { serializationRules } from '../../signature/serializations.ts';
import type { Construction, OrderKey, SignatureScheme } from '../../signature/signature-scheme.ts';
import { joiners, keySeparators, separators } from './scheme-space.ts';

/** Published first, then reported (Authentication 5 and 7), then keys with both secrets, then one secret alone. */
const orderKeys: readonly OrderKey[] = [
  'merchant+partner',
  'public+partner',
  'partner+merchant',
  'partner',
  'merchant',
];

/** The safest first. */
const constructions: readonly Construction[] = ['hmac', 'hash-suffix', 'hash-both', 'hash-prefix'];

/** The most plausible and safest first, and of those the simplest. */
export function rankSchemes(schemes: readonly SignatureScheme[]): SignatureScheme[] {
  return schemes
    .map((scheme) => ({ scheme, places: placesOf(scheme) }))
    .sort((one, other) => compare(one.places, other.places))
    .map(({ scheme }) => scheme);
}

function placesOf(scheme: SignatureScheme): number[] {
  const { separator = '', joiner = '', keySeparator = '' } = scheme;
  return [
    orderKeys.indexOf(scheme.orderKey ?? 'merchant+partner'),
    constructions.indexOf(scheme.construction),
    [separator, joiner, keySeparator].filter((text) => text !== '').length,
    serializationRules(scheme.serialization).preference,
    place(joiners, joiner),
    place(separators, separator),
    place(keySeparators, keySeparator),
    // Few services write capitals.
    Number(scheme.encoding === 'hex-upper'),
  ];
}

function place(list: readonly string[], text: string): number {
  return list.indexOf(text);
}

function compare(one: readonly number[], other: readonly number[]): number {
  for (const [index, place] of one.entries()) {
    const difference = place - (other[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
