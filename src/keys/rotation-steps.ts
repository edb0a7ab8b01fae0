import { areSameCredentials, plainCredentials } from '../credentials/define-credentials.ts';
import {
  haveDifferentNames,
  namesOf,
  type PartnerCredentials,
  type PartnerNames,
} from '../credentials/partner-credentials.ts';
import { KeyError } from '../errors/errors.ts';
import { quotedName } from '../internal/printable-text.ts';
import { redactCredentials } from '../internal/redact-credentials.ts';
import { type Generation, nextNumber, type RetiredGeneration, type RotationState } from './rotation-state.ts';

/** @throws {KeyError} when new keys must not be asked for now */
export function checkMayRequest({ current, pending, request }: RotationState, again: boolean): void {
  if (current === undefined) throw noKeys();
  if (pending !== undefined) {
    throw new KeyError('rotation_pending', 'New keys were received, and are not promoted yet.', {
      remedy: 'Before you ask for others, promote these.',
    });
  }
  if (request === undefined || again) return;
  const at = new Date(request.at).toISOString();
  if (request.answered) {
    throw new KeyError('rotation_pending', `New keys were asked for at ${at}, and not received yet.`);
  }
  throw new KeyError(
    'rotation_unknown',
    `It is not known whether the service got the request for new keys of ${at}.`,
  );
}

/**
 * The state with the received keys as the pending ones; `undefined` if that changes nothing. Known keys count again:
 * those received after them may have been typed wrong.
 *
 * @param rotation identifies the rotation, if these are its first keys
 * @throws {KeyError} `keys_known`, `keys_of_another_partner`
 */
export function withReceived(
  state: RotationState,
  { given, at, rotation }: { given: PartnerCredentials; at: number; rotation: string },
): RotationState | undefined {
  const { current, pending, request, retired } = state;
  // A link may leave out what stays the same: contract and reports name only the partner's keys and ID.
  const withGiven = ({ credentials }: Generation) => ({ ...plainCredentials(credentials), ...given });
  const isSame = (generation: Generation) =>
    areSameCredentials(generation.credentials, withGiven(generation));
  if (pending !== undefined && isSame(pending)) return undefined;
  if (current === undefined) {
    return { ...state, origin: { rotation, ...namesOf(given) }, current: received(given) };
  }
  checkNames(state, given);
  // No key is thrown away: the service may have signed with these in the meantime.
  const replaced = pending === undefined ? retired : [{ ...pending, retiredAt: at }, ...retired];
  // A name makes no new keys of the current ones: nothing has to be promoted, and new ones are awaited as before.
  const named = { ...plainCredentials(current.credentials), ...namesOf(given) };
  if (areSameCredentials(named, withGiven(current))) {
    if (pending !== undefined || !isSame(current)) {
      return { ...state, current: { ...current, credentials: named }, pending: undefined, retired: replaced };
    }
    if (request === undefined) return undefined;
    throw new KeyError('keys_known', 'These are the keys that sign now.');
  }
  const known = retired.find(isSame);
  const base = known ?? pending ?? current;
  const credentials = known?.credentials ?? withGiven(base);
  const next = { ...received(credentials), laterCredentials: base.laterCredentials };
  return { ...state, pending: next, retired: replaced.filter((generation) => generation !== known) };

  function received(credentials: PartnerCredentials): Generation {
    return { number: nextNumber(state), receivedAt: at, credentials };
  }
}

/** @throws {KeyError} `keys_of_another_partner` */
function checkNames(state: RotationState, given: PartnerCredentials): void {
  const { current, pending, retired } = state;
  // The name of keys that no delivery has matched may have been typed wrong.
  const doubted = unconfirmedOf(state);
  const known = [current, pending, ...retired].filter((generation) => generation !== doubted);
  const names: PartnerNames = Object.assign(
    {},
    ...known.toReversed().map((generation) => generation && namesOf(generation.credentials)),
  );
  if (!haveDifferentNames({ ...names, ...namesOf(given) }, names)) return;
  throw new KeyError(
    'keys_of_another_partner',
    `These are keys of ${partnerName(given)}, and those that are stored are of ${partnerName(names)}.`,
  );
}

/** Name and key may have been swapped. */
function partnerName({ partnerId, partnerCode }: PartnerNames): string {
  const kind = partnerId === undefined ? 'partner code' : 'partner';
  return redactCredentials(`${kind} ${quotedName(partnerId ?? partnerCode ?? '')}`);
}

/** The state with the pending keys as those that sign; `undefined` without any. @throws {KeyError} */
export function withPromoted(
  state: RotationState,
  { at, isExpired }: { at: number; isExpired: (generation: RetiredGeneration) => boolean },
): RotationState | undefined {
  const { current, pending, request, retired } = state;
  if (pending === undefined) {
    if (request !== undefined) throw new KeyError('keys_not_received', 'The new keys were not received.');
    if (current === undefined) throw noKeys();
    return undefined;
  }
  const kept = retired.filter((generation) => !isExpired(generation));
  const replaced = current === undefined ? [] : [{ ...current, retiredAt: at }];
  return {
    ...state,
    current: pending,
    pending: undefined,
    request: undefined,
    retired: [...replaced, ...kept],
  };
}

/**
 * The newest keys, while they may have been typed wrong: they were received after others, and no delivery has matched
 * them. The first keys are never in doubt: before them nothing worked that could stop working.
 */
export function unconfirmedOf({ current, pending }: RotationState): Generation | undefined {
  const newest = pending ?? current;
  return newest !== undefined && newest.number > 1 && newest.confirmedAt === undefined ? newest : undefined;
}

/** The state once a delivery has matched the keys of this number; `undefined` if that is known, or they were replaced. */
export function withConfirmed(state: RotationState, number: number, at: number): RotationState | undefined {
  const newest = unconfirmedOf(state);
  if (newest?.number !== number) return undefined;
  const confirmed = { ...newest, confirmedAt: at };
  return { ...state, ...(newest === state.pending ? { pending: confirmed } : { current: confirmed }) };
}

export function noKeys(): KeyError {
  return new KeyError('keys_unavailable', 'The storage holds no keys.', {
    remedy: 'When you have the first keys, give them to receive().',
  });
}

/** The state of a rotation, without keys. All times are milliseconds since 1970. */
export interface RotationStatus {
  /**
   * - `empty`: there are no keys; `receive` the first ones.
   * - `idle`: nothing is under way; `request` new keys.
   * - `unknown`: keys were asked for, but it is not known whether the request arrived.
   * - `requested`: the service accepted the request; open the link, and `receive` the keys.
   * - `received`: the new keys are stored; `promote` them.
   */
  readonly step: 'empty' | 'idle' | 'unknown' | 'requested' | 'received';
  /** When keys were asked for, until they are promoted. */
  readonly requestedAt?: number | undefined;
  /** First the keys that sign, then the pending ones, then the replaced ones, newest first. */
  readonly keys: readonly KeyStatus[];
}

/** The state of one set of keys; never a key. */
export interface KeyStatus {
  /** Counts from 1, in the order in which the keys were received. */
  readonly generation: number;
  /** `signing` keys sign; `pending` keys were received and wait for `promote`; `replaced` keys only verify. */
  readonly role: 'signing' | 'pending' | 'replaced';
  /** When they were received, in milliseconds since 1970. */
  readonly receivedAt: number;
  /** When replaced keys were replaced. */
  readonly replacedAt?: number | undefined;
  /** When a delivery last matched replaced keys, to within an hour. */
  readonly matchedAt?: number | undefined;
  /** Until when replaced keys verify. */
  readonly verifiesUntil?: number | undefined;
}

export function statusOf(
  state: RotationState,
  verifiesUntil: (generation: RetiredGeneration) => number,
): RotationStatus {
  const { current, pending, request, retired } = state;
  const statusIn = (role: KeyStatus['role'], generation: Generation | undefined): KeyStatus[] =>
    generation === undefined
      ? []
      : [{ generation: generation.number, role, receivedAt: generation.receivedAt }];
  const replaced = retired.map((generation) => ({
    ...{ generation: generation.number, role: 'replaced' as const, receivedAt: generation.receivedAt },
    replacedAt: generation.retiredAt,
    ...(generation.matchedAt !== undefined && { matchedAt: generation.matchedAt }),
    verifiesUntil: verifiesUntil(generation),
  }));
  return {
    step: stepOf(state),
    ...(request && { requestedAt: request.at }),
    keys: [...statusIn('signing', current), ...statusIn('pending', pending), ...replaced],
  };
}

function stepOf({ current, pending, request }: RotationState): RotationStatus['step'] {
  if (current === undefined) return 'empty';
  if (pending !== undefined) return 'received';
  if (request === undefined) return 'idle';
  return request.answered ? 'requested' : 'unknown';
}
