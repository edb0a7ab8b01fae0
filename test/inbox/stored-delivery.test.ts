import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../src/inbox/inbox.ts';
import { findDelivery, membersOf, writeDelivery } from '../../src/inbox/stored-delivery.ts';

const plain: Delivery = { digest: 'ab'.repeat(32), name: 'x', key: { index: 0, partnerId: 'p' }, body: '{}' };
const traced: Delivery = { ...plain, traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` };
const newer = { ...plain, version: 2 };
const newerError = expect.objectContaining({
  code: 'newer_format',
  message: expect.stringContaining('A stored delivery is in the form of a newer version'),
});

describe('a stored delivery', () => {
  it.each([plain, traced])('is read as it was written: %j', (delivery) => {
    const stored: unknown = JSON.parse(JSON.stringify(writeDelivery(delivery)));
    expect(writeDelivery(delivery)).toStrictEqual(delivery);
    expect(findDelivery(stored)).toStrictEqual(delivery);
  });

  it('has no trace that is none', () => {
    expect(findDelivery({ ...plain, traceparent: 'other' })).toStrictEqual(plain);
  });

  it('is none if only its digest is remembered', () => {
    expect(findDelivery({ handled: true })).toBeUndefined();
  });

  it.each([
    ...[undefined, null, 5, 'text', {}],
    { ...plain, digest: 5 },
    { ...plain, name: null },
    { ...plain, body: {} },
    { ...plain, key: 'first' },
    { ...plain, key: null },
  ])('is none if another program wrote it: %j', (data) => {
    expect(findDelivery(data)).toBeUndefined();
  });

  it('is refused as newer if a newer version wrote it', () => {
    expect(() => findDelivery(newer)).toThrow(newerError);
  });
});

it.each([undefined, null, 5, 'text'])('%j has no members', (value) => {
  expect(membersOf(value)).toEqual({});
});
