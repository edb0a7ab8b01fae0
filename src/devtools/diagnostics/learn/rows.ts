import type { AssumptionId } from '../../../deployment/assumptions.ts';
import { judgedCalls } from './call-rows.ts';
import { judgedEvents } from './event-rows.ts';
import type { RowJudge } from './row-judge.ts';

const tellingBody =
  'Capture a body with a number like 10.0, a slash, letters beyond ASCII and nested members, or let an endpoint of the service sign (oracle).';

/** A judge for each row of the ledger, or why there is none. */
export const rowJudges: Readonly<Record<AssumptionId, RowJudge>> = {
  ...judgedCalls,
  ...judgedEvents,
  // One signature shows how the service signs.
  'signature-construction': { part: 'construction', howToSee: tellingBody },
  'signature-serialization': { part: 'serialization', howToSee: tellingBody },
  'signature-encoding': { part: 'encoding', howToSee: tellingBody },
  'signature-key': {
    part: 'orderKey',
    howToSee: 'Capture an event, and give all the secrets of its partner.',
  },
  'merchant-concatenation': {
    part: 'keySeparator',
    howToSee: 'Only where the key for orders has two parts: capture an event.',
  },
  // Nothing that is captured can show these.
  'merchant-key-prefix': none('It is about the keys that you were given, not about deliveries.'),
  'key-lifetime': none(
    'Only a wait shows it: events that verify with a key of known age. How long the link to new keys lives shows only who opens it, and no call of the clients does.',
  ),
  'order-partner-id': none('Only orders with and without partnerId in the credentials show it.'),
  'allowed-values': none('Only the orders that the service refuses show it.'),
  'otp-refusal': none('Only a message to a number that cannot have it shows it.'),
  'number-check': none('Only a number check shows it: checkNumber of MessengerClient.'),
  'phone-form': none('Only messages to numbers in several forms show it.'),
  'verify-check': none('Only messages with and without verify_check show it.'),
  'api-key-form': none('It is about the API key that you were given, not about deliveries.'),
  'amount-units': none('Only a comparison with the statement of a real order shows it.'),
  'event-matches-order': none(
    'Only a comparison of events with the orders that you sent shows it: the order journal.',
  ),
  'order-transitions': none('It cannot be refuted by events: one that never came may still come.'),
  versioning: none('Only calls with other paths show it.'),
};

function none(cannot: string): RowJudge {
  return { cannot };
}
