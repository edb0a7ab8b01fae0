import { addressForms } from '../../addresses/address-forms.ts';
import type { AssumptionId } from '../../deployment/assumptions.ts';
import { orderEventNames } from '../../events/event-names.ts';
import { isSettledStatus, isThirdPartyKycError } from '../../events/status.ts';
import type { SignatureScheme } from '../../signature/signature-scheme.ts';
import { type AnsweredEvent, observeAnswer, observeRetry } from './answer-log.ts';
import {
  type CallHistory,
  type CapturedReply,
  observeOldKeys,
  observePath,
  observeRateLimit,
  observeTakenOrder,
} from './captured-reply.ts';
import {
  type GenuineEvent,
  memberJudge,
  observeAddress,
  observeContentType,
  observeReadings,
  observeReferenceName,
  observeShape,
  observeThirdPartyError,
  observeTimeLikeMember,
  observeTimestamp,
} from './event-evidence.ts';
import { type RowObservation, type RowRule, speaksFor } from './evidence.ts';
import {
  type LoggedOrder,
  type OrderContext,
  observeOrderReply,
  observeRepeatedId,
  observeStatus,
  observeSuccess,
  observeWhitelist,
} from './order-log.ts';

type Observed = RowObservation | undefined;

/** Judged from each event. */
interface EventJudge extends RowRule {
  readonly event: (event: GenuineEvent) => Observed;
  /** Whether repetitions are looked at too. */
  readonly takesRepeated?: true;
}

/** Judged from each reply, after those before it. */
interface CallJudge extends RowRule {
  readonly call: (reply: CapturedReply, history: CallHistory) => Observed;
}

/** Judged from the replies to an order and its events, when all have been read. */
interface OrderJudge extends RowRule {
  readonly order: (order: LoggedOrder, context: OrderContext) => Observed;
}

/** Judged from what followed the answer to an event, when all have been read. */
interface AnswerJudge extends RowRule {
  readonly answer: (event: AnsweredEvent) => Observed;
}

/** Judged by the schemes that fit. */
interface SchemeJudge {
  readonly part: keyof SignatureScheme;
  readonly howToSee: string;
}

/** Nothing that is captured can show it. */
interface NoJudge {
  readonly cannot: string;
}

type RowJudge = EventJudge | CallJudge | OrderJudge | AnswerJudge | SchemeJudge | NoJudge;

const published = orderEventNames.filter((name) => name !== 'event.buy.third_party_error');
const tellingBody =
  'Capture a body with a number like 10.0, a slash, letters beyond ASCII and nested members, or have a probe signed (detectFromOracle).';
const keepReplies = 'keep the replies (onResponse) and the events for an hour after them.';

/** A judge for each row of the ledger, or why there is none. */
export const rowJudges: Readonly<Record<AssumptionId, RowJudge>> = {
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
  'merchant-key-prefix': none('It is about the keys that you were given, not about deliveries.'),
  'several-merchants': {
    least: 2,
    leastFound: 2,
    leastAgainst: 1,
    howToSee: 'Give merchantSecretKeys, and capture events in two currencies or more.',
    event: ({ merchant }) => (merchant === undefined ? undefined : speaksFor(merchant)),
  },
  'key-lifetime': none('Only a wait shows it: events that verify with a key of known age.'),
  'old-keys-die': {
    least: 1,
    leastAgainst: 1,
    howToSee:
      'Regenerate the keys on the staging system, go on calling with the old ones, and keep the replies.',
    call: observeOldKeys,
  },
  'regeneration-path': {
    least: 1,
    leastAgainst: 3,
    isOutweighed: true,
    howToSee: 'Call regenerateKeys on the staging system, and keep the reply.',
    call: observePath('regenerateKeys'),
  },
  'order-path': {
    least: 1,
    leastAgainst: 3,
    isOutweighed: true,
    howToSee: 'Call whitelistIp and createOrder on the staging system, and keep the replies.',
    call: observePath('createOrder'),
  },
  'order-payload': {
    least: 3,
    leastAgainst: 1,
    howToSee: 'Send three orders to the staging system, and keep the replies.',
    call: observeTakenOrder,
  },
  'order-partner-id': none('Only orders with and without partnerId in the credentials show it.'),
  'partner-order-id': {
    least: 1,
    leastAgainst: 3,
    isOutweighed: true,
    howToSee: `Send three orders to the staging system twice, one of them twice at the same moment, and ${keepReplies}`,
    order: observeRepeatedId,
  },
  'address-form': {
    least: 3,
    leastAgainst: 3,
    each: Object.keys(addressForms),
    howToSee: 'Capture three events or more, on each of the chains.',
    event: observeAddress,
  },
  'branded-names': {
    least: 3,
    leastAgainst: 3,
    each: ['platform_order_ref', 'platform_merchant_id', 'messenger_device_no', 'connect-msg'],
    howToSee: 'Events show platform_order_ref alone; read the others off the documents of your deployment.',
    event: observeReferenceName,
  },
  'allowed-values': none('Only the orders that the service refuses show it.'),
  replies: {
    least: 10,
    leastAgainst: 3,
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
    leastAgainst: 5,
    isOutweighed: true,
    howToSee: `Wait for orders that are answered with 409 or 423: ${keepReplies}`,
    order: observeStatus((status) => status === 409 || status === 423),
  },
  'order-rate-limit': {
    least: 3,
    leastAgainst: 3,
    howToSee: `Wait for three orders that are answered with 429: ${keepReplies}`,
    order: observeStatus((status) => status === 429),
  },
  errors: {
    least: 3,
    leastAgainst: 3,
    howToSee: `Wait for three orders that are refused: ${keepReplies}`,
    order: observeStatus((status) => status >= 400 && status < 500 && ![408, 409, 423, 429].includes(status)),
  },
  'otp-refusal': none('Only a message to a number that cannot have it shows it.'),
  'ip-whitelist': {
    least: 1,
    leastAgainst: 1,
    howToSee:
      'Send an order from an address that is not whitelisted, then whitelist it and send the order again.',
    order: observeWhitelist,
  },
  'request-limits': {
    least: 1,
    leastAgainst: 1,
    howToSee: 'Nothing to do: no reply so far had status 429.',
    call: observeRateLimit,
  },
  'number-check': none('Only a number check shows it: checkNumber of MessengerClient.'),
  'phone-form': none('Only messages to numbers in several forms show it.'),
  'verify-check': none('Only messages with and without verify_check show it.'),
  'api-key-form': none('It is about the API key that you were given, not about deliveries.'),
  'terminal-crypto-status': memberJudge(['crypto_payment_status'], {
    event: 'event.buy.credited.crypto',
    isDocumented: isSettledStatus,
    howToSee: 'Wait for three credited orders.',
  }),
  'third-party-spelling': memberJudge(['kyc_error_type'], {
    event: 'event.buy.received.fiat_kyc_error',
    isDocumented: isThirdPartyKycError,
    isNeutral: (text) => text === 'NO_KYC',
    howToSee: 'Wait for three orders that a third party has paid.',
  }),
  'third-party-error-body': {
    least: 3,
    leastAgainst: 1,
    howToSee: 'Wait for three events event.buy.third_party_error.',
    event: observeThirdPartyError,
  },
  'amount-units': none('Only a comparison with the statement of a real order shows it.'),
  'timestamp-form': {
    least: 3,
    leastAgainst: 1,
    howToSee: 'Wait for three orders with a KYC error.',
    event: observeTimestamp,
  },
  'close-status': memberJudge(['meta_data', 'status'], {
    event: 'buy.event.close',
    isDocumented: (text) => text === 'refunded',
    howToSee: 'Wait for three orders that are closed with a refund.',
  }),
  'event-shape': {
    least: 10,
    leastAgainst: 1,
    each: published,
    howToSee: `Capture ten events or more, with each of ${published.join(', ')}.`,
    event: observeShape,
  },
  'event-readings': {
    least: 1,
    leastAgainst: 1,
    howToSee: 'Nothing to do: no event so far was in another form than the documented one.',
    event: observeReadings,
  },
  'other-events': {
    least: 1,
    leastAgainst: 1,
    howToSee: 'Wait: no event so far had a name that is not published.',
    event: ({ parsed }) => (parsed.kind === 'unknown' ? speaksFor(parsed.name) : undefined),
  },
  'callback-reply': {
    least: 6,
    leastAgainst: 3,
    each: ['once after another 2xx than 200', 'again after no 2xx'],
    howToSee:
      'Answer three events with 204 and three with 500, and keep all that come for an hour (listen --save).',
    answer: observeAnswer,
  },
  'event-content-type': {
    least: 10,
    leastAgainst: 1,
    howToSee: 'Capture ten events or more with their headers (listen --save).',
    event: observeContentType,
  },
  'callback-retry': {
    least: 3,
    leastAgainst: 1,
    howToSee: 'Answer three events with 500, and keep all that come for an hour (listen --save).',
    answer: observeRetry,
  },
  'event-order': {
    least: 1,
    leastAgainst: 1,
    takesRepeated: true,
    howToSee: 'Wait: no event so far came twice or out of order.',
    event: ({ disorder }) => (disorder === undefined ? undefined : speaksFor(disorder)),
  },
  'event-matches-order': none(
    'Only a comparison of events with the orders that you sent shows it: the order journal.',
  ),
  'order-transitions': none('It cannot be refuted by events: one that never came may still come.'),
  versioning: none('Only calls with other paths show it.'),
  'event-replay': {
    least: 10,
    leastAgainst: 3,
    howToSee: 'Capture ten events or more.',
    event: observeTimeLikeMember,
  },
};

function none(cannot: string): NoJudge {
  return { cannot };
}
