import { describe, expect, it } from 'vitest';
import {
  boundsOf,
  judgeEffects,
  type LedgerEntry,
} from '../../../../src/devtools/diagnostics/attack/ledger.ts';

const credit = 'event.buy.credited.crypto';

function entry(status: number, other: Partial<LedgerEntry> = {}): LedgerEntry {
  const answer = { kind: 'answered', status, headers: new Headers(), text: '' } as const;
  const plain = { orderId: 'probe-1', name: credit, step: credit, isOptional: false, isAuthentic: true };
  return { ...plain, answer, ...other };
}

const closed = entry(0, { answer: { kind: 'closed', reason: 'by the sender' } });
const init = { name: 'event.buy.init', step: 'event.buy.init' };
const problemOf = (entries: readonly LedgerEntry[], count: number) =>
  judgeEffects(entries, [credit], count)?.problem;

describe('the effects of an order', () => {
  it.each<[string, readonly LedgerEntry[], { least: number; most: number }]>([
    ['one of an acknowledged event', [entry(200)], { least: 1, most: 1 }],
    ['one of an event in several texts', [entry(200), entry(200)], { least: 1, most: 1 }],
    ['none or one of an event that need not have one', [entry(200, init)], { least: 0, most: 1 }],
    ['none or one of an event that was overtaken', [entry(200, { isOptional: true })], { least: 0, most: 1 }],
    ['none of a refused one', [entry(401)], { least: 0, most: 0 }],
    ['none or one of one that failed', [entry(500)], { least: 0, most: 1 }],
    ['none or one of one without an answer', [closed], { least: 0, most: 1 }],
    [
      'none of a forgery, even if it is accepted',
      [entry(200, { isAuthentic: false })],
      { least: 0, most: 0 },
    ],
    ['one or two of two events', [entry(200), entry(200, init)], { least: 1, most: 2 }],
  ])('are %s', (_, entries, bounds) => {
    expect(boundsOf(entries, [credit])).toEqual(bounds);
    expect(judgeEffects(entries, [credit], bounds.least)).toBeUndefined();
    expect(judgeEffects(entries, [credit], bounds.most)).toBeUndefined();
    expect(judgeEffects(entries, [credit], bounds.most + 1)).toMatchObject({ verdict: 'broken' });
  });

  it('are judged by what was answered', () => {
    expect(problemOf([entry(200)], 0)).toBe('dropped');
    expect(problemOf([entry(200), entry(200)], 2)).toBe('repeated');
    expect(problemOf([entry(500), entry(200)], 2)).toBe('retried');
    expect(problemOf([closed, entry(200)], 2)).toBe('retried');
    expect(problemOf([entry(500), entry(200)], 0)).toBe('forgotten');
    expect(problemOf([entry(422)], 1)).toBe('acted');
    expect(problemOf([entry(401, { isAuthentic: false })], 1)).toBe('acted');
    expect(problemOf([entry(200, { isAuthentic: false })], 1)).toBe('accepted');
  });
});
