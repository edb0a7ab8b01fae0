import { storableText } from '../internal/driver-error.ts';
import { type KnownMembers, refuseNewer } from '../store/stored-form.ts';
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

/** `undefined` if it holds none that can still be handled. @throws {StoreError} `newer_format` */
export function findDelivery(data: unknown): Delivery | undefined {
  refuseNewer(data, 'A stored delivery');
  const { digest, name, body, key, ...rest } = membersOf(data);
  if (typeof digest !== 'string' || typeof name !== 'string' || typeof body !== 'string') return undefined;
  if (typeof key !== 'object' || key === null) return undefined;
  const traceparent = readTraceparent(rest.traceparent);
  // Sound: writeDelivery stored the key with the rest.
  const delivery = { digest, name, body, key: key as Delivery['key'] };
  return traceparent === undefined ? delivery : { ...delivery, traceparent };
}

/** The value may be anything. */
export function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
