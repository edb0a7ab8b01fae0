import { storableText } from '../redaction/storable-text.ts';
import type { Delivery } from './inbox.ts';

/** A delivery as the data of a job. The name is what the sender wrote; the body holds it as it was. */
export function writeDelivery({ digest, name, key, body }: Delivery): object {
  return { digest, name: storableText(name), key, body };
}

/**
 * A delivery out of the data of a job, or `handled` where only the memory of its digest is left.
 *
 * @throws {TypeError} when it is neither: another program wrote to the queue
 */
export function readDelivery(data: unknown): Delivery | 'handled' {
  if (typeof data !== 'object' || data === null) throw foreign();
  if ('handled' in data) return 'handled';
  const { digest, name, body, key } = { digest: null, name: null, body: null, key: null, ...data };
  if (typeof digest !== 'string' || typeof name !== 'string' || typeof body !== 'string') throw foreign();
  if (typeof key !== 'object' || key === null) throw foreign();
  // Written by writeDelivery: the rest of the job is.
  return { digest, name, body, key: key as Delivery['key'] };
}

/** A delivery out of the data of a job; `undefined` when it is none that may still be handled. */
export function findDelivery(data: unknown): Delivery | undefined {
  try {
    const delivery = readDelivery(data);
    return delivery === 'handled' ? undefined : delivery;
  } catch {
    return undefined;
  }
}

/** The members of what a store gave, which may be anything. */
export function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function foreign(): TypeError {
  return new TypeError('A job of the inbox queue is no delivery: give the inbox a queue of its own.');
}
