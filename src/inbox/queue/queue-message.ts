import { readOrigin } from '../../credentials/partner-credentials.ts';
import { InboxError } from '../../errors/errors.ts';
import { storableText } from '../../internal/driver-error.ts';
import { membersOf, tryParse } from '../../internal/json.ts';
import { readTraceparent } from '../../internal/tracing.ts';
import { refuseNewer } from '../../store/stored-form.ts';
import type { Delivery } from '../inbox.ts';

/** A verified delivery as one message of a queue: JSON data. It holds personal data. */
export interface QueueMessage {
  /** The version of this form. A reader of a later version takes earlier ones too. */
  readonly v: 1;
  /** The digest of the delivery, 64 hex digits: the id to remove duplicates by, if your queue can do that. */
  readonly digest: string;
  /** The `event_name`. */
  readonly name: string;
  /** Who signed it. */
  readonly key: Delivery['key'];
  /** The body as received, signature included. */
  readonly body: string;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
  /** The trace context of its request. */
  readonly traceparent?: string;
}

export function writeMessage(
  { digest, name, key, body, traceparent }: Delivery,
  receivedAt: number,
): QueueMessage {
  const message = { v: 1, digest, name: storableText(name), key, body, receivedAt } as const;
  return traceparent === undefined ? message : { ...message, traceparent };
}

/**
 * Reads a message, or its JSON as text or bytes.
 *
 * @throws {InboxError} `invalid_message`, without anything of the message
 * @throws {StoreError} `newer_format`
 */
export function readMessage(given: unknown): { readonly delivery: Delivery; readonly receivedAt: number } {
  const { v, digest, name, key, body, receivedAt, ...rest } = membersOf(parse(given));
  refuseNewer({ version: v }, 'A message of the queue');
  if (v !== 1) throw invalidMessage('it has no version');
  if (typeof digest !== 'string' || !/^[0-9a-f]{64}$/.test(digest)) throw invalidMessage('it has no digest');
  if (typeof name !== 'string' || typeof body !== 'string') throw invalidMessage('it holds no delivery');
  const { index, ...names } = membersOf(key);
  if (typeof index !== 'number' || !Number.isSafeInteger(index) || index < 0)
    throw invalidMessage('it does not name the key');
  if (typeof receivedAt !== 'number' || !Number.isSafeInteger(receivedAt) || receivedAt < 0)
    throw invalidMessage('it has no time');
  const known = ['partnerId', 'partnerCode', 'merchant'].flatMap((member) =>
    typeof names[member] === 'string' ? [[member, names[member]]] : [],
  );
  const origin = readOrigin(names.origin);
  const matched = { index, ...Object.fromEntries(known), ...(origin !== undefined && { origin }) };
  const delivery = { digest, name, key: matched, body };
  const traceparent = readTraceparent(rest.traceparent);
  return { delivery: traceparent === undefined ? delivery : { ...delivery, traceparent }, receivedAt };
}

function parse(given: unknown): unknown {
  if (typeof given !== 'string' && !(given instanceof Uint8Array)) return given;
  const value = tryParse(typeof given === 'string' ? given : new TextDecoder().decode(given));
  if (value === undefined) throw invalidMessage('it is not JSON');
  return value;
}

function invalidMessage(reason: string): InboxError {
  return new InboxError('invalid_message', `A message of the queue is no delivery of queueInbox: ${reason}.`);
}
