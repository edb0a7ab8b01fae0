import { describe, expect, it } from 'vitest';
import type { PartnerCredentials } from '../../src/credentials/partner-credentials.ts';
import type { ReceiveOutcome } from '../../src/webhooks/receive-outcome.ts';
import { buyInitBody } from '../support/bodies.ts';
import { delivery, quietWebhooks } from './deliveries.ts';

/** A set of credentials, whose keys are named after it. */
function set(name: string, more: Partial<PartnerCredentials> = {}): PartnerCredentials {
  return {
    partnerPublicKey: `pk_partner_${name}`,
    partnerSecretKey: `sk_partner_${name}`,
    merchantSecretKey: `sk_merchant_${name}`,
    ...more,
  };
}

/** The same event, signed with the keys of a set. */
const signedBy = (name: string) => delivery(buyInitBody(), `sk_merchant_${name}sk_partner_${name}`);

/** What becomes of one event that comes with the keys of each set in turn. */
async function outcomes(credentials: readonly PartnerCredentials[], names: readonly string[]) {
  let handled = 0;
  const webhooks = quietWebhooks({ credentials }).onAny(() => {
    handled++;
  });
  const kinds: ReceiveOutcome['kind'][] = [];
  for (const name of names) kinds.push((await webhooks.receive(signedBy(name))).kind);
  expect(kinds.filter((kind) => kind === 'handled')).toHaveLength(handled);
  return kinds;
}

const once = ['handled', 'duplicate'];
const each = ['handled', 'handled'];

describe('one event that comes with the keys of two sets of credentials', () => {
  it.each<[string, Partial<PartnerCredentials>, Partial<PartnerCredentials>, string[]]>([
    ['that name nobody is a repetition', {}, {}, once],
    ['of one partner ID is a repetition', { partnerId: 'P-7' }, { partnerId: 'P-7' }, once],
    ['of which only the new one has the ID is a repetition', { partnerId: 'P-7' }, {}, once],
    ['of which only the old one has the code is a repetition', {}, { partnerCode: 'acme' }, once],
    [
      'of which both have the code and one the ID is a repetition',
      { partnerCode: 'acme' },
      { partnerCode: 'acme', partnerId: 'P-7' },
      once,
    ],
    [
      'of one ID is a repetition though the code has changed',
      { partnerCode: 'acme', partnerId: 'P-7' },
      { partnerCode: 'acme-2', partnerId: 'P-7' },
      once,
    ],
    ['of two partner IDs is two deliveries', { partnerId: 'P-7' }, { partnerId: 'P-8' }, each],
    [
      'of two IDs is two deliveries though the code is the same',
      { partnerCode: 'acme', partnerId: 'P-7' },
      { partnerCode: 'acme', partnerId: 'P-8' },
      each,
    ],
    [
      'of an ID and a code that nothing connects is two deliveries',
      { partnerId: 'P-7' },
      { partnerCode: 'acme' },
      each,
    ],
    ['of an ID that reads like a code is two deliveries', { partnerId: 'P-7' }, { partnerCode: 'P-7' }, each],
  ])('%s', async (_, one, other, expected) => {
    const credentials = [set('one', one), set('other', other)];
    expect(await outcomes(credentials, ['one', 'other'])).toEqual(expected);
    expect(await outcomes(credentials, ['other', 'one'])).toEqual(expected);
    expect(await outcomes(credentials.toReversed(), ['one', 'other'])).toEqual(expected);
  });
});

describe('two partners, each during a rotation', () => {
  const credentials = [
    set('new-a', { partnerId: 'A' }),
    set('old-a', { partnerId: 'A' }),
    set('new-b', { partnerId: 'B' }),
    set('old-b', { partnerId: 'B' }),
  ];

  it('have one delivery each, whichever generation signs', async () => {
    expect(await outcomes(credentials, ['old-a', 'new-b', 'new-a', 'old-b'])).toEqual([
      'handled',
      'handled',
      'duplicate',
      'duplicate',
    ]);
  });

  it('have a set that names nobody taken for none of them', async () => {
    const sets = [...credentials, set('unnamed')];
    expect(await outcomes(sets, ['old-a', 'old-b', 'unnamed'])).toEqual(['handled', 'handled', 'handled']);
  });
});

describe('the digest', () => {
  async function digest(credentials: PartnerCredentials[], name: string): Promise<string> {
    const outcome = await quietWebhooks({ credentials }).receive(signedBy(name));
    if (outcome.digest === undefined) throw new Error(outcome.kind);
    return outcome.digest;
  }

  it('stays the same when the old generation is taken out, so that a stored one is found again', async () => {
    const [next, old] = [set('next', { partnerId: 'A' }), set('old', { partnerId: 'A' })];
    const before = await digest([old], 'old');
    expect(await digest([next, old], 'old')).toBe(before);
    expect(await digest([next, old], 'next')).toBe(before);
    expect(await digest([next], 'next')).toBe(before);
  });

  it('stays the same when another partner joins', async () => {
    const a = set('a', { partnerId: 'A' });
    expect(await digest([a, set('b', { partnerId: 'B' })], 'a')).toBe(await digest([a], 'a'));
  });
});
