import type { JsonObject, JsonValue } from '../../internal/json.ts';

import type { ProcessIdentity } from '../../store/process-identity.ts';
import { type KnownMembers, unknownMembers } from '../../store/stored-form.ts';
import type { Delivery } from '../inbox.ts';

import { deliveryMembers, findDelivery, membersOf, writeDelivery } from '../stored-delivery.ts';

/** The process that took a lease. */
export interface LeaseHolder extends ProcessIdentity {
  /** Of the lease that it took. */
  readonly token: string;
  /** When that lease ends by itself, in milliseconds since the epoch. */
  readonly until: number;
}

/** An open delivery or a dead letter, as its record holds it. */
export interface Stored {
  readonly delivery: Delivery;
  readonly receivedAt: number;
  readonly attempts: number;
  readonly reason: string;
  /** The key of its index record. */
  readonly index: string;
  /** It lost a lease once, and is tried alone from then on. */
  readonly alone: boolean;
  /** The token of its lease; absent while it waits and when it is dead. */
  readonly lease?: string | undefined;
  /** Who took this lease; absent from those of earlier versions. */
  readonly holder?: LeaseHolder | undefined;
  /** The members of the record that this version does not know. */
  readonly kept: JsonObject;
}

const storedMembers: KnownMembers<Delivery & Omit<Stored, 'delivery' | 'kept'>> = {
  ...deliveryMembers,
  receivedAt: true,
  attempts: true,
  reason: true,
  index: true,
  alone: true,
  lease: true,
  holder: true,
};

/**
 * `undefined` for a digest that is only remembered, and for what another program has written.
 *
 * @throws {StoreError} `newer_format`
 */
export function readStored(value: JsonValue | undefined): Stored | undefined {
  const delivery = findDelivery(value);
  const { receivedAt, attempts, reason, index, alone, lease, holder: written } = membersOf(value);
  if (delivery === undefined || typeof index !== 'string') return undefined;
  const holder = readHolder(written);
  return {
    delivery,
    receivedAt: Number(receivedAt),
    attempts: Number(attempts),
    reason: String(reason),
    index,
    alone: alone === true,
    ...(typeof lease === 'string' && { lease }),
    // An earlier version leaves the holder of a former lease where it is.
    ...(holder !== undefined && holder.token === lease && { holder }),
    kept: unknownMembers(value, storedMembers),
  };
}

function readHolder(value: unknown): LeaseHolder | undefined {
  const { token, space, pid, startedAt, until } = membersOf(value);
  if (typeof token !== 'string' || typeof space !== 'string' || typeof until !== 'number') return undefined;
  // It is asked of the system: 0 and less would mean others.
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return { token, space, pid, ...(typeof startedAt === 'string' && { startedAt }), until };
}

/** The key of a delivery's record. @param prefix of the inbox */
export function deliveryKey(prefix: string, digest: string): string {
  return `${prefix}delivery/${digest}`;
}

/** The record of an open delivery or a dead letter. */
export function deliveryRecord({ delivery, kept, lease, holder, ...state }: Stored): JsonObject {
  const { startedAt, ...process } = holder ?? {};
  return {
    ...kept,
    ...writeDelivery(delivery),
    ...state,
    ...(lease !== undefined && { lease }),
    ...(holder !== undefined && { holder: { ...process, ...(startedAt !== undefined && { startedAt }) } }),
  };
}

/** The record of a delivery that was handled or discarded. */
export const handledRecord: JsonObject = Object.freeze({ handled: true });
