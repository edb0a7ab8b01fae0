import { describe, expect, it } from 'vitest';
import { SignatureError } from '../../src/errors/errors.ts';
import { verifyBody } from '../../src/signature/verify-body.ts';
import { seeded } from '../internal/loose-json.ts';
import { buyCreditedBody, buyInitBody, hmacHex, orderKey } from '../support/bodies.ts';
import { times } from '../support/repeat.ts';

const { signature: _, ...members } = buyCreditedBody();
const unsigned = JSON.stringify(members);
const signature = hmacHex(unsigned);
// In the middle, so that there are bytes on both sides to tamper with.
const names = Object.keys(members);
const middle = names.length >> 1;
const parts = names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(members[name])}`);
const signatureMember = `"signature":"${signature}"`;
const valid = Buffer.from(`{${parts.toSpliced(middle, 0, signatureMember).join(',')}}`);
const signatureStart = valid.indexOf('"signature"');
const signatureEnd = signatureStart + signatureMember.length;

const random = seeded(20_250_102);
const below = (limit: number) => Math.floor(random() * limit);
const splice = (start: number, removed: number, inserted: Uint8Array) =>
  Buffer.concat([valid.subarray(0, start), inserted, valid.subarray(start + removed)]);

/** Each makes one variant, or nothing when what it made says the same as the valid event. */
const forgers: Record<string, () => Buffer | undefined> = {
  'a flipped bit': () => {
    const forged = Buffer.from(valid);
    const at = below(valid.length);
    forged[at] = (forged[at] ?? 0) ^ (1 << below(8));
    return forged;
  },
  'another byte': () => splice(below(valid.length), 1, Uint8Array.of(below(256))),
  'an inserted byte': () => {
    const at = below(valid.length + 1);
    const inserted = pick([below(256), 0x20, 0x0a, 0x22, 0x2c, 0x5c, 0x30, 0x7d]);
    // White space around the body signs nothing, and beside the signature's own marks it goes with the signature.
    const isSpace = [0x20, 0x09, 0x0a, 0x0d].includes(inserted);
    if (isSpace && (at === 0 || at === valid.length)) return undefined;
    if (isSpace && at >= signatureStart - 1 && at <= signatureEnd + 1) return undefined;
    return splice(at, 0, Uint8Array.of(inserted));
  },
  'deleted bytes': () => splice(below(valid.length), 1 + below(12), new Uint8Array()),
  'a truncation': () => valid.subarray(0, below(valid.length)),
  'more behind it': () =>
    splice(valid.length, 0, Buffer.from(pick(['{}', '}', ' {}', 'null', '\0', ',', '\u00a0']))),
  'two swapped members': () => {
    const swapped = [...parts];
    const [first, second] = [below(parts.length), below(parts.length)];
    [swapped[first], swapped[second]] = [parts[second] ?? '', parts[first] ?? ''];
    return first === second ? undefined : together(swapped, signature);
  },
  'a member left out': () => together(parts.toSpliced(below(parts.length), 1), signature),
  'a member twice': () => together([...parts, pick(parts)], signature),
  'an added member': () => together(parts.toSpliced(below(parts.length), 0, `"x${below(1e6)}":1`), signature),
  'another value': () => {
    const forged = { ...members, [pick(names)]: pick([below(1e9), `${below(1e9)}`, null, true]) };
    return together(
      Object.keys(forged).map((name) => JSON.stringify({ [name]: forged[name] }).slice(1, -1)),
      signature,
    );
  },
  'an edited signature': () => {
    const at = below(128);
    return together(parts, signature.slice(0, at) + below(16).toString(16) + signature.slice(at + 1));
  },
  'a signature in mixed case': () =>
    together(parts, signature.slice(0, below(64)) + signature.slice(64).toUpperCase()),
  'a shifted signature': () => {
    const by = 1 + below(127);
    return together(parts, signature.slice(by) + signature.slice(0, by));
  },
  'a signature with another key': () => together(parts, hmacHex(unsigned, `sk_${below(1e9)}`)),
  'a signature of another event': () =>
    together(parts, hmacHex(JSON.stringify(buyInitBody({ nonce: below(1e9) })))),
  'two signatures': () =>
    together(
      [...parts.toSpliced(below(parts.length), 0, `"signature":"${hmacHex(`${below(1e9)}`)}"`)],
      signature,
    ),
};

function together(list: string[], claimed: string): Buffer {
  return Buffer.from(`{${list.toSpliced(middle, 0, `"signature":"${claimed}"`).join(',')}}`);
}

function pick<Item>(items: readonly Item[]): Item {
  return items[below(items.length)] as Item;
}

/** `verified`, or the kind of the error. */
function outcomeOf(body: Uint8Array): string {
  try {
    verifyBody(body, { key: orderKey });
    return 'verified';
  } catch (error) {
    return error instanceof SignatureError ? 'refused' : `thrown ${String(error)}`;
  }
}

const count = times(3_000, 10_000);

describe(`${count} forged variants of a valid event`, () => {
  const variants = new Map<string, { forger: string; body: Buffer }>();
  const kinds = Object.keys(forgers);
  for (let round = 0; variants.size < count; round++) {
    const forger = kinds[round % kinds.length] ?? '';
    const body = forgers[forger]?.();
    if (body && !body.equals(valid)) variants.set(body.toString('latin1'), { forger, body });
  }

  it('are made from an event that verifies', () => {
    expect(outcomeOf(valid)).toBe('verified');
  });

  it('come from every way of forging', () => {
    expect(new Set(Array.from(variants.values(), ({ forger }) => forger))).toEqual(new Set(kinds));
  });

  it('are all refused with a SignatureError', () => {
    const accepted = [...variants.values()].flatMap(({ forger, body }) => {
      const result = outcomeOf(body);
      return result === 'refused' ? [] : [`${result}: ${forger}: ${body}`];
    });
    expect(variants.size).toBe(count);
    expect(accepted).toEqual([]);
  });
});
