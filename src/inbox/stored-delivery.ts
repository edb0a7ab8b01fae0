import { storableText } from '../internal/driver-error.ts';
import { isNewerFormat, refuseNewer } from '../internal/stored-version.ts';
import type { KnownMembers } from '../internal/unknown-members.ts';
import { type Delivery, readTraceparent } from './inbox.ts';

/** What `writeDelivery` writes. */
export const deliveryMembers: KnownMembers<Delivery> = {
  digest: true,
  name: true,
  key: true,
  body: true,
  traceparent: true,
};

/** The name is stored as the sender wrote it. */
export function writeDelivery({ digest, name, key, body, traceparent }: Delivery): object {
  return { digest, name: storableText(name), key, body, ...(traceparent !== undefined && { traceparent }) };
}

/** Milliseconds after which a process that cannot read a delivery of a newer version lets itself get it again. */
export const newerAgainMs = 10_000;

/** A job that no handler gets: the queue remembers its digest by the job's id. */
export const handledData: object = Object.freeze({ handled: true });

/**
 * `handled` if only the digest is remembered.
 *
 * @throws {TypeError} if another program has written to the queue
 * @throws {StoreError} `newer_format`
 */
export function readDelivery(data: unknown): Delivery | 'handled' {
  if (typeof data !== 'object' || data === null) throw foreign();
  refuseNewer(data, 'A stored delivery');
  if ('handled' in data) return 'handled';
  const { digest, name, body, key } = { digest: null, name: null, body: null, key: null, ...data };
  if (typeof digest !== 'string' || typeof name !== 'string' || typeof body !== 'string') throw foreign();
  if (typeof key !== 'object' || key === null) throw foreign();
  const traceparent = 'traceparent' in data ? readTraceparent(data.traceparent) : undefined;
  // Sound: writeDelivery stored the key with the rest.
  const delivery = { digest, name, body, key: key as Delivery['key'] };
  return traceparent === undefined ? delivery : { ...delivery, traceparent };
}

/** `undefined` if it holds none that can still be handled. @throws {StoreError} `newer_format` */
export function findDelivery(data: unknown): Delivery | undefined {
  try {
    const delivery = readDelivery(data);
    return delivery === 'handled' ? undefined : delivery;
  } catch (error) {
    if (isNewerFormat(error)) throw error;
    return undefined;
  }
}

/** The value may be anything. */
export function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function foreign(): TypeError {
  return new TypeError('A job of the inbox queue is no delivery: give the inbox a queue of its own.');
}
