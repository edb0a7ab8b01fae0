import { InboxError } from '../errors/inbox-error.ts';

/** The error of a dead letter whose last attempt never reported its end. */
export function leaseLost(): InboxError {
  return new InboxError(
    'lease_lost',
    'The process that handled it for the last time died, or lost its lease.',
  );
}
