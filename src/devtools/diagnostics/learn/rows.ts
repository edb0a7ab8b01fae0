import type { AssumptionId } from '../../../deployment/assumptions.ts';
import { observeMessageReply, observeRateLimit, observeTaken } from './captured-reply.ts';
import { judgedEvents } from './event-rows.ts';
import { observeOrderReply, observeRepeatedId, observeStatus, observeSuccess } from './order-log.ts';
import type { RowJudge } from './row-judge.ts';

const keepReplies = 'keep the replies (onResponse) and the events.';

const tellingBody =
  'Capture a body with a number like 10.0, a slash, letters beyond ASCII and nested members, or let an endpoint of the service sign (oracle).';

/** A judge for each row of the ledger, or why it has no judge. */
export const rowJudges: Readonly<Record<AssumptionId, RowJudge>> = {
  ...judgedEvents,
  // Calls and their replies show these; orders those with the events that follow.
  'regeneration-path': {
    least: 1,
    leastAgainst: 1,
    howToSee: 'Call regenerateKeys on the staging system, and keep the reply.',
    call: observeTaken('regenerateKeys'),
  },
  'order-path': {
    least: 1,
    leastAgainst: 1,
    howToSee: 'Send an order to the staging system, and keep the reply.',
    call: observeTaken('createOrder'),
  },
  'order-payload': {
    least: 3,
    leastAgainst: 1,
    howToSee: 'Send three orders to the staging system, and keep the replies.',
    call: observeTaken('createOrder'),
  },
  'message-reply': {
    least: 3,
    leastAgainst: 3,
    howToSee:
      'Send three messages to a phone that shows them, one of them while the device is not connected, and keep the replies (onResponse).',
    call: observeMessageReply,
  },
  'request-limits': {
    least: 1,
    leastAgainst: 1,
    howToSee: 'Nothing to do: no reply so far had status 429.',
    call: observeRateLimit,
  },
  'partner-order-id': {
    least: 1,
    leastAgainst: 1,
    howToSee: `Send an order to the staging system twice, and ${keepReplies} Only a second reference is judged: look at the second reply yourself.`,
    order: observeRepeatedId,
  },
  replies: {
    least: 10,
    leastAgainst: 1,
    howToSee: `Send ten orders to the staging system, and ${keepReplies}`,
    order: observeSuccess,
  },
  'order-reply': {
    least: 3,
    leastAgainst: 3,
    // A text that differs from order to order says nothing of the next one.
    mostFound: 1,
    howToSee: `Send three orders to the staging system, and ${keepReplies}`,
    order: observeOrderReply,
  },
  'order-conflict': {
    least: 1,
    leastAgainst: 1,
    howToSee: `Wait for an order that is answered with 409 or 423 and has events: ${keepReplies}`,
    order: observeStatus((status) => status === 409 || status === 423),
  },
  'order-rate-limit': {
    least: 1,
    leastAgainst: 1,
    howToSee: `It can only be refuted, by an order that is answered with 429 and has events: ${keepReplies}`,
    order: observeStatus((status) => status === 429),
  },
  errors: {
    least: 1,
    leastAgainst: 1,
    howToSee: `It can only be refuted, by an order that is refused and has events: ${keepReplies}`,
    order: observeStatus((status) => status >= 400 && status < 500 && ![408, 409, 423, 429].includes(status)),
  },
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
  'old-keys-die': none(
    'Only a call with the old keys shows it, some time after new ones were asked for on the staging system.',
  ),
  'ip-whitelist': none('Only an order from an address that is not whitelisted shows it.'),
  'callback-reply': none(
    'Only the repetitions of the service show it: answer an event with 204 and another with 500, and look for an hour (listen).',
  ),
  'callback-retry': none(
    'Only the repetitions of the service show it: answer an event with 500, and look for an hour (listen).',
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
