import { createHash } from 'node:crypto';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { JsonObject } from '../../src/internal/json.ts';
import {
  type ComparisonRules,
  readSeenEvent,
  toOrderedMembers,
  withDecision,
  withSeenEvent,
} from '../../src/orders/event-comparison.ts';
import type { OrderRecord } from '../../src/orders/order-record.ts';
import { buyInitBody, buyThirdPartyErrorBody } from '../support/bodies.ts';
import { order } from './service.ts';

const now = 1_700_000_000_000;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const digestOf = (body: JsonObject) => sha256(JSON.stringify(body));
const address = order.buyer_crypto_address;
const ordered = {
  ...{ chain: 'usdt-trc20', fiat_currency: 'NGN', fiat_amount: '15000.50' },
  ...{ salt: 's', address: sha256(`s:${address}`) },
};
const rules: ComparisonRules = { rejectMismatch: 'address', sameOrder: undefined, now };

function record(more: Partial<OrderRecord> = {}): OrderRecord {
  return {
    ...{
      version: 1,
      partner_order_id: 'A-1001',
      digest: 'd',
      revision: 0,
      askedAt: 1,
      state: 'accepted',
      attempts: 1,
      unresolved: [],
    },
    ...{ createdAt: 1, changedAt: 1, openedAt: 1, ordered },
    ...more,
  };
}

const observe = (before: OrderRecord, body: JsonObject, more: Partial<ComparisonRules> = {}) =>
  withSeenEvent(before, readSeenEvent(body), { ...rules, ...more });

describe('what the journal keeps of a payload', () => {
  it.each<[string, unknown, boolean]>([
    ['a text', 'usdt-trc20', true],
    ['100 characters', 'x'.repeat(100), true],
    ['101 characters', 'x'.repeat(101), false],
    ['an empty text', '', false],
    ['a number', 7, false],
    ['a list', ['usdt-trc20'], false],
    ['a character that no store can hold', 'a\0', false],
    ['half a character', '\ud800', false],
    ['nothing', undefined, false],
  ])('is a member that is %s, if an event can contradict it', (_, given, isKept) => {
    for (const name of ['chain', 'fiat_currency', 'fiat_amount']) {
      // Sound: the schema of a deployment may allow it.
      const kept = toOrderedMembers({ [name]: given } as JsonObject, 's');
      expect(kept).toStrictEqual(isKept ? { [name]: given } : {});
    }
  });

  it('is the salted hash of the address, the same for all spellings of an EVM address', () => {
    const evm = '0xb7c978b070509bfeefa71fc3c984775072f837df';
    for (const [given, hashed] of [
      [address, address],
      [evm.toUpperCase().replace('X', 'x'), evm],
    ] as const)
      expect(toOrderedMembers({ buyer_crypto_address: given }, 's')).toStrictEqual({
        salt: 's',
        address: sha256(`s:${hashed}`),
      });
    for (const none of ['', 7, null])
      expect(toOrderedMembers({ buyer_crypto_address: none }, 's')).toStrictEqual({});
  });
});

describe('what the journal reads of an event', () => {
  it('has a digest of its own for an event without a context', () => {
    const body = buyInitBody();
    expect(readSeenEvent(body)).toMatchObject({
      ...{ name: 'event.buy.init', digest: sha256(JSON.stringify(body)) },
      event: { event_name: 'event.buy.init' },
    });
    expect(readSeenEvent(body, { digest: 'of the context' }).digest).toBe('of the context');
  });

  it('is bounded, and only what a store can hold', () => {
    const name = `\0${'n'.repeat(150)}`;
    const seen = readSeenEvent({ kind: 'nonconforming', name, body: {}, issues: [] });
    expect(seen).toMatchObject({ name: `\ufffd${'n'.repeat(99)}`, event: undefined });
    // Sound: a caller without types may leave the name out.
    expect(readSeenEvent({ kind: 'unknown', body: {} } as never).name).toBe('');
  });
});

describe('an event in a record', () => {
  it('that fits its order is kept once, with what handlers may act on', () => {
    const body = buyInitBody();
    const { record: after, ...rest } = observe(record(), body);
    expect(rest).toEqual({ event: after.events?.[0], isMismatch: false, isRejected: false });
    expect(after.timeline?.seen).toStrictEqual(['event.buy.init']);
    expect(after.timeline?.facts).toMatchObject({ buyer_crypto_address: [sha256(`s:${address}`)] });
    expect(after.events).toStrictEqual([
      { name: 'event.buy.init', at: now, digest: sha256(JSON.stringify(body)) },
    ]);
    expect(after).not.toHaveProperty('attention');
    expect(observe(after, body).record).toBe(after);
    // Another one of its name adds to the timeline alone.
    const { record: later } = observe(after, buyInitBody({ exchange_rate: 7 }));
    expect(later.events).toBe(after.events);
    expect(later.timeline?.facts.exchange_rate).toHaveLength(2);
  });

  it('that differs is kept once, and leaves the timeline', () => {
    const body = buyInitBody({ buyer_crypto_address: 'elsewhere' });
    const { record: after, isRejected, isMismatch, event } = observe(record(), body);
    const differences = [{ member: 'buyer_crypto_address' }];
    const logged = { name: 'event.buy.init', at: now, digest: sha256(JSON.stringify(body)), differences };
    expect([isRejected, isMismatch, event]).toEqual([true, true, logged]);
    expect(after).toStrictEqual(record({ events: [logged], attention: 'mismatch' } as Partial<OrderRecord>));
    expect(observe(after, body, { now: now + 1 })).toEqual({
      record: after,
      event: logged,
      isMismatch: true,
      isRejected: true,
    });
    expect(observe(after, body).record).toBe(after);
  });

  it('passes once a person has decided about it, and is in the timeline from then on', () => {
    const body = buyInitBody({ buyer_crypto_address: 'elsewhere' });
    const { record: before } = observe(record(), body);
    const decision = { at: now + 1, note: 'It is right.', verdict: 'accepted' } as const;
    const decided = withDecision(before, [digestOf(body)], decision);
    expect(decided).not.toHaveProperty('attention');
    expect(decided.events).toMatchObject([{ decision }]);
    const { record: after, ...rest } = observe(decided, body);
    expect(rest).toEqual({ event: decided.events?.[0], isMismatch: false, isRejected: false });
    expect(after.timeline?.seen).toEqual(['event.buy.init']);
    expect(after.events).toEqual(decided.events);
    // Another one is a new one.
    const other = buyInitBody({ buyer_crypto_address: 'elsewhere again' });
    expect(observe(after, other)).toMatchObject({ isRejected: true, record: { attention: 'mismatch' } });
  });

  it('never passes once a person has rejected it, whatever else is compared, and needs nobody', () => {
    const decision = { at: now + 1, note: 'Not our buyer.', verdict: 'rejected' } as const;
    for (const members of [{ buyer_crypto_address: 'elsewhere' }, { chain: 'x' }]) {
      const body = buyInitBody(members);
      const { record: before } = observe(record(), body);
      const decided = withDecision(before, [digestOf(body)], decision);
      for (const more of [{}, { rejectMismatch: 'never' }, { sameOrder: () => true }] as const) {
        const { record: after, isRejected, isMismatch } = observe(decided, body, more);
        expect([isRejected, isMismatch]).toEqual([true, false]);
        expect(after).toBe(decided);
        expect(after).not.toHaveProperty('attention');
      }
    }
  });

  it.each<[ComparisonRules['rejectMismatch'], boolean, boolean]>([
    ['address', true, false],
    ['any', true, true],
    ['never', false, false],
  ])('with rejectMismatch %s is rejected as it says, and recorded', (rejectMismatch, elsewhere, other) => {
    const isRejectedWith = (members: JsonObject, more: Partial<ComparisonRules> = {}) => {
      const body = buyInitBody(members);
      const { isRejected, isMismatch } = observe(record(), body, { rejectMismatch, ...more });
      expect(isMismatch).toBe(true);
      return isRejected;
    };
    expect(isRejectedWith({ buyer_crypto_address: 'elsewhere' })).toBe(elsewhere);
    expect(isRejectedWith({}, { sameOrder: () => false })).toBe(elsewhere);
    expect(isRejectedWith({ chain: 'x' })).toBe(other);
    expect(isRejectedWith({ fiat_currency: 'x' })).toBe(other);
    expect(isRejectedWith({ fiat_amount_to_pay: 1 })).toBe(other);
  });

  it('differs in nothing if sameOrder finds it of the same order, and is shown to it with what was ordered', () => {
    const body = buyInitBody({ buyer_crypto_address: 'elsewhere', chain: 'x' });
    const asked: unknown[] = [];
    const sameOrder: ComparisonRules['sameOrder'] = ({ isAddress, ...known }, event) => {
      asked.push({ known, event, fits: [isAddress(address), isAddress('elsewhere')] });
      return true;
    };
    const { isMismatch, isRejected } = observe(record(), body, { sameOrder });
    expect([isMismatch, isRejected]).toEqual([false, false]);
    const { salt, address: hash, ...known } = ordered;
    expect(asked).toEqual([
      { known: { partner_order_id: 'A-1001', ...known }, event: body, fits: [true, false] },
    ]);
  });

  it('is looked into although it was seen before, once sameOrder finds it of another order', () => {
    const body = buyInitBody();
    const { record: before } = observe(record(), body);
    const { record: after, isRejected, event } = observe(before, body, { sameOrder: () => false });
    const differing = { ...before.events?.[0], differences: [{ member: 'order' }] };
    expect([after.attention, isRejected, event]).toEqual(['mismatch', true, differing]);
    // A person can name it.
    expect(after.events).toEqual([differing]);
  });

  it('has any address if the order has none', () => {
    const { chain } = ordered;
    const { record: after, isRejected } = observe(record({ ordered: { chain } }), buyInitBody());
    expect(isRejected).toBe(false);
    expect(after.timeline?.facts.buyer_crypto_address).toEqual([sha256(`:${address}`)]);
  });

  it('without an address adds none to the timeline', () => {
    const { record: after } = observe(record(), buyThirdPartyErrorBody());
    expect(after.timeline).toEqual({ seen: ['event.buy.third_party_error'], facts: {} });
  });

  it('takes the place of one that fits where 32 are kept, then of one that is decided, never of one that is not', () => {
    const differing = (index: number) => ({
      ...{ name: 'n', at: 1, digest: `differing ${index}` },
      differences: [{ member: 'buyer_crypto_address' as const }],
    });
    const all = Array.from({ length: 32 }, (_, index) => differing(index));
    const fitting = { name: 'event.buy.other', at: 1, digest: 'fitting' };
    const mixed = all.with(4, fitting as never);
    const moved = buyInitBody({ buyer_crypto_address: 'elsewhere' });
    const digestsAfter = (events: OrderRecord['events'], body: JsonObject) =>
      observe(record({ events, attention: 'mismatch' }), body).record.events?.map(({ digest }) => digest);
    const digestsOf = (events: readonly { digest: string }[]) => events.map(({ digest }) => digest);
    const replaced = [...digestsOf(mixed.toSpliced(4, 1)), sha256(JSON.stringify(moved))];
    expect(digestsAfter(mixed, moved)).toEqual(replaced);
    expect(digestsAfter(mixed, buyInitBody())).toEqual(digestsOf(mixed));
    expect(digestsAfter(all, moved)).toEqual(digestsOf(all));
    const decision = { at: 1, note: 'x', verdict: 'accepted' } as const;
    const decided = all.map((event, index) => (index === 3 || index === 5 ? { ...event, decision } : event));
    expect(digestsAfter(decided, moved)).toEqual([...digestsOf(all.toSpliced(3, 1)), digestOf(moved)]);
    expect(digestsAfter(all.slice(1), buyInitBody())).toHaveLength(32);
  });

  it('is compared as usual if sameOrder throws, which a warning says', () => {
    const warnings = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => warnings.mockRestore());
    const sameOrder = () => {
      throw new Error('no rule for it');
    };
    expect(observe(record(), buyInitBody({ chain: 'x' }), { sameOrder }).event).toMatchObject({
      differences: [{ member: 'chain' }],
    });
    expect(String(warnings.mock.calls[0]?.[0])).toMatch(/^sameOrder threw.*no rule for it/);
  });
});
