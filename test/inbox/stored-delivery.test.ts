import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../src/inbox/inbox.ts';
import {
  findDelivery,
  handledData,
  membersOf,
  readDelivery,
  writeDelivery,
} from '../../src/inbox/stored-delivery.ts';

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
    expect(readDelivery(stored)).toStrictEqual(delivery);
    expect(findDelivery(stored)).toStrictEqual(delivery);
  });

  it('has no trace that is none', () => {
    expect(readDelivery({ ...plain, traceparent: 'other' })).toStrictEqual(plain);
  });

  it('is handled if only its digest is remembered, and can be handled no more', () => {
    expect(readDelivery(handledData)).toBe('handled');
    expect(findDelivery(handledData)).toBeUndefined();
  });

  it.each([
    ...[undefined, null, 5, 'text', {}],
    { ...plain, digest: 5 },
    { ...plain, name: null },
    { ...plain, body: {} },
    { ...plain, key: 'first' },
    { ...plain, key: null },
  ])('is refused if another program wrote it: %j', (data) => {
    expect(() => readDelivery(data)).toThrow(
      TypeError('A job of the inbox queue is no delivery: give the inbox a queue of its own.'),
    );
    expect(findDelivery(data)).toBeUndefined();
  });

  it('is refused as newer if a newer version wrote it', () => {
    expect(() => readDelivery(newer)).toThrow(newerError);
    expect(() => findDelivery(newer)).toThrow(newerError);
  });
});

it.each([undefined, null, 5, 'text'])('%j has no members', (value) => {
  expect(membersOf(value)).toEqual({});
});
