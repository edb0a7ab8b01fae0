import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../../src/inbox/inbox.ts';
import { readMessage, writeMessage } from '../../../src/inbox/queue/queue-message.ts';
import { thrownBy } from '../../support/refusal.ts';

const digest = 'ab'.repeat(32);
const plain: Delivery = { digest, name: 'x', key: { index: 0 }, body: '{}' };
const sound = { v: 1, ...plain, receivedAt: 1 };

describe('a message of the queue', () => {
  it.each<[string, Partial<Delivery>]>([
    ['no name of its partner', {}],
    ['the ID of its partner', { key: { index: 1, partnerId: 'p-1' } }],
    ['every name of its partner', { key: { index: 2, partnerId: 'p', partnerCode: 'c', merchant: 'm' } }],
    ['the rotation of its keys', { key: { index: 0, origin: { rotation: 'r', partnerCode: 'first' } } }],
    ['the trace of its request', { traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` }],
  ])('is read as it was written, with %s', (_, members) => {
    const delivery = { ...plain, ...members };
    const text = JSON.stringify(writeMessage(delivery, 0));
    for (const message of [text, new TextEncoder().encode(text), JSON.parse(text)])
      expect(readMessage(message)).toStrictEqual({ delivery, receivedAt: 0 });
  });

  it('is read without names of a partner that are no text, and without a trace that is none', () => {
    const key = { index: 0, partnerId: 5, partnerCode: 'c', merchant: {}, origin: 'r', more: 'x' };
    const { delivery } = readMessage({ ...sound, key, traceparent: 'secret' });
    expect(delivery).toStrictEqual({ ...plain, key: { index: 0, partnerCode: 'c' } });
  });

  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'it has no version'],
    ['text', 'secret marker', 'it is not JSON'],
    ['bytes that are no text', new Uint8Array([255, 254, 0]), 'it is not JSON'],
    ['a list', [sound], 'it has no version'],
    ['no version', { ...sound, v: undefined }, 'it has no version'],
    ['a digest with a path', { ...sound, digest: `../${digest}` }, 'it has no digest'],
    ['a longer digest', { ...sound, digest: `${digest}0` }, 'it has no digest'],
    ['no digest', { ...sound, digest: undefined }, 'it has no digest'],
    ['a name that is no text', { ...sound, name: { marker: 1 } }, 'it holds no delivery'],
    ['no body', { ...sound, body: null }, 'it holds no delivery'],
    ['no key', { ...sound, key: null }, 'it does not name the key'],
    ['a key that is no place', { ...sound, key: { index: -1 } }, 'it does not name the key'],
    ['a time that is text', { ...sound, receivedAt: 'marker' }, 'it has no time'],
    ['a time before 1970', { ...sound, receivedAt: -1 }, 'it has no time'],
  ])('is refused with its reason, and without its content: %s', (_, message, reason) => {
    const error = thrownBy(() => readMessage(message));
    expect(error).toMatchObject({ name: 'InboxError', code: 'invalid_message' });
    expect(String(error)).toContain(`A message of the queue is no delivery of queueInbox: ${reason}.`);
    expect(String(error)).not.toContain('marker');
  });

  it('is left as it is when a newer version has written it', () => {
    const error = thrownBy(() => readMessage({ ...sound, v: 2 }));
    expect(error).toMatchObject({ name: 'StoreError', code: 'newer_format' });
    expect(String(error)).toContain('A message of the queue is in the form of a newer version');
  });
});
