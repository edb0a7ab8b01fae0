import { areSameCredentials, membersOf } from '../credentials/key-sets.ts';
import type { PartnerCredentials } from '../credentials/partner-credentials.ts';
import { KeyError } from '../errors/key-error.ts';
import { type Generation, nextNumber, type RetiredGeneration, type RotationState } from './rotation-state.ts';

/** @throws {KeyError} when new keys must not be asked for now */
export function checkMayRequest({ current, pending, request }: RotationState, again: boolean): void {
  if (current === undefined) throw noKeys();
  if (pending !== undefined) {
    throw new KeyError('rotation_pending', 'New keys were received: promote them before you ask for others.');
  }
  if (request === undefined || again) return;
  const at = new Date(request.at).toISOString();
  if (request.answered) {
    throw new KeyError(
      'rotation_pending',
      `New keys were asked for at ${at}: receive() those behind the link in the e-mail. If it never came, ask again with { again: true }.`,
    );
  }
  throw new KeyError(
    'rotation_unknown',
    `Whether the service got the request for new keys of ${at} is not known. Look for its e-mail and receive() the keys, or ask again with { again: true }.`,
  );
}

/** The state with new keys; `undefined` when it has them already. @throws {KeyError} `keys_known` */
export function withReceived(
  state: RotationState,
  { given, at }: { given: PartnerCredentials; at: number },
): RotationState | undefined {
  const { current, pending, request, retired } = state;
  // A link need not show what stays: contract and reports name only the partner's keys and ID.
  const known = pending ?? current;
  const credentials = known === undefined ? given : { ...membersOf(known.credentials), ...given };
  const isSame = (generation: Generation | undefined) =>
    generation !== undefined && areSameCredentials(generation.credentials, credentials);
  if (isSame(pending)) return undefined;
  if (isSame(current) && request === undefined && pending === undefined) return undefined;
  if (isSame(current) || retired.some(isSame)) {
    throw new KeyError('keys_known', 'These are not the new keys: the rotation has had them before.');
  }
  const received = { number: nextNumber(state), receivedAt: at, credentials };
  if (current === undefined) return { ...state, current: received };
  if (pending === undefined) return { ...state, pending: received };
  // Nothing that was shown once is thrown away: the service may have signed with these in the meantime.
  return { ...state, pending: received, retired: [{ ...pending, retiredAt: at }, ...retired] };
}

/** The state with the pending keys as those that sign; `undefined` when there are none. @throws {KeyError} */
export function withPromoted(
  { current, pending, request, retired }: RotationState,
  {
    at,
    stillVerify,
  }: { at: number; stillVerify: (retired: readonly RetiredGeneration[]) => RetiredGeneration[] },
): RotationState | undefined {
  if (pending === undefined) {
    if (request !== undefined) throw notReceived();
    if (current === undefined) throw noKeys();
    return undefined;
  }
  const kept = stillVerify(retired);
  if (current === undefined) return { current: pending, retired: kept };
  return { current: pending, retired: [{ ...current, retiredAt: at }, ...kept] };
}

function notReceived(): KeyError {
  return new KeyError(
    'keys_not_received',
    'The new keys were not received: open the link in the e-mail, and give them to receive().',
  );
}

export function noKeys(): KeyError {
  return new KeyError('keys_unavailable', 'The storage holds no keys: give the first ones to receive().');
}
