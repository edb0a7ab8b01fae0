import { describe, expect, it } from 'vitest';
import { explainExchange } from '../../../../src/devtools/sandbox/control/exchange-verdict.ts';
import { createTraceLog, type TraceFacts } from '../../../../src/devtools/sandbox/world/trace.ts';

const url = 'http://127.0.0.1:3000/orders';

/** The verdict on an exchange with these facts of its reply. */
function verdictOn(kind: 'event' | 'request', faults: readonly string[], reply: Partial<TraceFacts> = {}) {
  const { add, view } = createTraceLog({ now: () => 0, maxEntries: 9, seed: 's' });
  const exchange = add({ kind, url, faults });
  add({ kind: kind === 'event' ? 'event_reply' : 'reply', exchange, faults, ...reply });
  return explainExchange(view.entries);
}

describe('the verdict on an event', () => {
  it.each([
    ['a forgery that was refused', 401, ['forged'], 'good', 'refused a forged event, as it should'],
    ['a changed event that was refused', 400, ['tampered'], 'good', 'changed after signing, as it should'],
    ['a forgery that was accepted', 200, ['forged'], 'bad', 'accepted a forged event'],
    ['a forgery at which the receiver failed', 500, ['forged'], 'bad', 'failed with 500'],
    ['a genuine event that was taken', 200, [], 'good', 'acknowledged the event'],
    ['a genuine event that was refused', 401, [], 'bad', 'refused a genuine event'],
    ['a genuine event that was redirected', 307, [], 'bad', 'follows no redirect'],
    ['a genuine event at which the receiver failed', 503, [], 'bad', 'failed with 503'],
    ['an event signed with replaced keys', 401, ['old_key'], 'bad', 'keys before the last regeneration'],
  ])('is right about %s', (_, status, faults, result, reason) => {
    const verdict = verdictOn('event', faults, { status });
    expect(verdict).toMatchObject({ result, reason: expect.stringContaining(reason) });
    const isAttackNamed = JSON.stringify(verdict).includes(`partner-exchange attack ${url}`);
    expect(isAttackNamed).toBe(/^accepted|^refused a genuine/.test(reason));
  });

  it('says why a receiver was silent', () => {
    expect(verdictOn('event', [], { note: 'ECONNREFUSED' })).toMatchObject({
      result: 'bad',
      reason: `The receiver at ${url} gave no answer: ECONNREFUSED.`,
    });
  });

  it('says that it waits for an answer, or that a fault kept it from being posted', () => {
    const { add, view } = createTraceLog({ now: () => 0, maxEntries: 9, seed: 's' });
    add({ kind: 'event', url });
    add({ kind: 'fault', faults: ['drop'] });
    expect(view.entries.map((entry) => explainExchange([entry]))).toMatchObject([
      { result: 'waiting', reason: 'Not answered yet.' },
      { reason: 'Not posted: this event had the fault drop.' },
    ]);
  });
});

it('the verdict on a request names its refusal, or the fault that took its reply', () => {
  const body = '{"error":"not_found","message":"Nothing is there."}';
  expect(verdictOn('request', [], { status: 404, body })).toMatchObject({
    result: 'bad',
    reason: 'Refused with 404: Nothing is there.',
  });
  expect(verdictOn('request', ['reply_lost'])).toMatchObject({
    result: 'bad',
    next: ['This request had the planned fault reply_lost.', expect.stringContaining('may have acted')],
  });
});
