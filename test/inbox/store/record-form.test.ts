import { describe, expect, it } from 'vitest';
import { deliveryForm } from '../../../src/inbox/store/record-form.ts';

const delivery = { digest: 'ab'.repeat(32), name: 'x', key: { index: 0, partnerId: 'p' }, body: '{}' };
const traced = { ...delivery, traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` };
const state = { receivedAt: 5, attempts: 1, reason: 'no', index: 'inbox/due/5/a', alone: false };

describe('the record of a delivery', () => {
  it.each([delivery, traced])('is read as it was written: %j', (written) => {
    const lease = { token: 't', takenAt: 5, until: 9, holder: { space: 'machine', pid: 7 } };
    const stored = { ...state, delivery: written, lease };
    expect(deliveryForm.read(deliveryForm.write(stored, undefined))).toStrictEqual(stored);
  });

  it('holds nothing of a lease that has ended', () => {
    const former = { ...state, delivery, lease: { token: 't', takenAt: 5, until: 9 } };
    expect(deliveryForm.write({ ...state, delivery, lease: undefined }, former)).toStrictEqual({
      ...state,
      delivery,
    });
  });

  it.each([
    ...[
      undefined,
      null,
      5,
      'text',
      {},
      { handled: true },
      { ...state, delivery: 5 },
      { ...state, delivery, index: 5 },
    ],
    { ...state, delivery: { ...delivery, digest: 5 } },
    { ...state, delivery: { ...delivery, name: null } },
    { ...state, delivery: { ...delivery, body: {} } },
    { ...state, delivery: { ...delivery, key: 'first' } },
    { ...state, delivery: { ...delivery, key: null } },
  ])('is none if another program wrote it: %j', (stored) => {
    expect(deliveryForm.read(stored)).toBeUndefined();
  });

  it('is refused as newer if a newer version wrote it', () => {
    expect(() => deliveryForm.read({ ...state, delivery, version: 2 })).toThrow(
      expect.objectContaining({
        code: 'newer_format',
        message: expect.stringContaining('A stored delivery is in the form of a newer version'),
      }),
    );
  });
});
