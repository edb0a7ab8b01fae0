import { InboxError } from '../errors/inbox-error.ts';

/** Why a delivery is dead whose last attempt nobody saw the end of. */
export function leaseLost(): InboxError {
  return new InboxError(
    'lease_lost',
    'The process that handled it for the last time died, or lost its lease.',
  );
}
