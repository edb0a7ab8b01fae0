import type { AssumptionId } from '../../src/deployment/assumptions.ts';
import type { EventFaultName } from '../../src/sandbox/faults/event-faults.ts';
import type { RequestFaultName } from '../../src/sandbox/faults/faults.ts';
import type { SandboxOptions } from '../../src/sandbox/sandbox-options.ts';

/** How the sandbox plays one point of the assumption ledger in another way, or why it cannot. */
export type LedgerPlay =
  | {
      /** Options of `createSandbox`. */
      readonly options?: readonly (keyof SandboxOptions)[];
      /** Faults of `sandbox.faults`. */
      readonly faults?: readonly (RequestFaultName | EventFaultName)[];
      /** What the sandbox does when nothing is said. */
      readonly byDefault: string;
      /** What else it can do. */
      readonly otherwise: string;
    }
  | { readonly unplayable: string };

/**
 * Every point of the ledger, and how the sandbox plays it. Tests hold it against the ledger, the options, and the table
 * in docs/details/sandbox.md.
 */
export const ledgerOptions = {
  'signature-construction': {
    options: ['signature'],
    byDefault: 'HMAC-SHA512',
    otherwise: 'any construction',
  },
  'signature-serialization': {
    options: ['signature', 'eventSpelling'],
    byDefault: 'the text as sent, spelled awkwardly',
    otherwise: 'any serialisation',
  },
  'signature-encoding': { options: ['signature'], byDefault: 'lower-case hex', otherwise: 'any encoding' },
  'signature-key': {
    options: ['signature'],
    byDefault: 'merchant + partner secret',
    otherwise: "`orderKey: 'public+partner'` (Authentication 7), and others",
  },
  'merchant-concatenation': {
    options: ['signature'],
    byDefault: 'nothing between',
    otherwise: 'any `keySeparator`',
  },
  'merchant-key-prefix': { options: ['prefixes'], byDefault: 'sk_merchant_', otherwise: 'none' },
  'several-merchants': {
    options: ['merchants'],
    byDefault: 'one merchant',
    otherwise: 'a merchant key for each currency listed',
  },
  'key-lifetime': {
    options: ['keyLifetimeMs'],
    byDefault: 'keys do not expire',
    otherwise: 'refused after a time',
  },
  'old-keys-die': {
    options: ['oldKeysExpire'],
    byDefault: 'when the link is opened',
    otherwise: 'when the regeneration is asked for, or never',
  },
  'regeneration-path': { options: ['paths'], byDefault: 'with the dot', otherwise: 'any path' },
  'order-path': { options: ['paths'], byDefault: 'CreateOrder/', otherwise: 'any path' },
  'order-payload': {
    options: ['orderSchema', 'readOrder'],
    byDefault: 'the reported payload',
    otherwise: 'any payload',
  },
  'order-partner-id': {
    options: ['partnerIdHeader'],
    byDefault: 'optional, but not wrong',
    otherwise: 'required',
  },
  'partner-order-id': {
    options: ['duplicateOrders', 'reply'],
    byDefault: 'the second is refused with 409',
    otherwise: 'refused with another status, answered with the first, or a second order',
  },
  'address-form': {
    options: ['addressForms'],
    byDefault: 'any address',
    otherwise: 'refused unless it has the assumed form, or another one',
  },
  'event-matches-order': {
    options: ['event'],
    faults: ['credits_elsewhere', 'other_chain', 'other_currency', 'amount_differs'],
    byDefault: 'what was ordered',
    otherwise: 'another address, chain, currency or amount',
  },
  'branded-names': { options: ['wireNames'], byDefault: 'the published names', otherwise: 'any names' },
  'allowed-values': {
    options: ['allowedValues'],
    byDefault: 'any pair, chain and currency',
    otherwise: 'those listed',
  },
  replies: {
    options: ['reply'],
    faults: ['other_reply', 'other_status', 'html', 'wrong_content_type', 'gzip', 'truncate', 'trickle'],
    byDefault: 'plain JSON objects',
    otherwise: 'wrapped, text, empty, or not what they say they are',
  },
  'order-reply': {
    options: ['reply'],
    faults: ['ok_with_error', 'other_reply', 'other_status'],
    byDefault: 'a 2xx means that the order is there',
    otherwise: 'another 2xx, another body, or 200 with an error inside, in each of the `denials`',
  },
  'order-conflict': {
    options: ['duplicateOrders', 'reply'],
    faults: ['conflict'],
    byDefault: '409 for an order that is there',
    otherwise: 'no 409',
  },
  'order-rate-limit': {
    faults: ['too_many_requests'],
    byDefault: 'no limit',
    otherwise: '429, and the order is there',
  },
  errors: {
    options: ['reply'],
    faults: ['conflict', 'too_many_requests', 'server_error', 'redirect', 'reset', 'reply_lost', 'stall'],
    byDefault: '4xx, and nothing was done',
    otherwise: 'a refusal after the effect',
  },
  'otp-refusal': {
    options: ['numbersNotOnMessenger', 'reply'],
    faults: ['html', 'server_error'],
    byDefault: '422 for the number, 401 or 409 for the device',
    otherwise: 'any status, for either: `html` takes one',
  },
  'ip-whitelist': {
    options: ['whitelist', 'reply'],
    byDefault: 'refused with 403',
    otherwise: '401 or another 4xx, or not asked',
  },
  'request-limits': {
    options: ['faults'],
    faults: ['too_many_requests', 'misdirected'],
    byDefault: 'no limit',
    otherwise: '429 with Retry-After',
  },
  'number-check': {
    options: ['paths', 'numberCheckParameters'],
    byDefault: 'not there',
    otherwise: 'at any path, with any names',
  },
  'phone-form': { unplayable: 'the sandbox takes any text as a phone number' },
  'verify-check': {
    options: ['verifyCheck', 'numbersNotOnMessenger'],
    byDefault: 'ignored',
    otherwise: 'asks whether the number is on the messenger',
  },
  'api-key-form': { options: ['prefixes'], byDefault: 'API-X- and hex', otherwise: 'any prefix' },
  'terminal-crypto-status': {
    options: ['event'],
    faults: ['status_respelled'],
    byDefault: 'PAID',
    otherwise: 'Completed or COMPLETED, or any other text',
  },
  'third-party-spelling': {
    options: ['event'],
    byDefault: 'THIRD_PARTY_PAYMENT',
    otherwise: 'THIRD_PARTY_ERROR, or any other text',
  },
  'third-party-error-body': {
    options: ['event'],
    faults: ['extra_members'],
    byDefault: 'the common members',
    otherwise: 'the name and the ids alone',
  },
  'amount-units': { unplayable: 'a unit does not show in the values' },
  'timestamp-form': {
    options: ['event'],
    byDefault: 'RFC 3339, in UTC',
    otherwise: 'any value for `created_at`',
  },
  'close-status': { options: ['event'], byDefault: 'refunded', otherwise: 'any text' },
  'event-shape': {
    options: ['event', 'faults'],
    faults: [
      'member_missing',
      'member_null',
      'member_type',
      'member_renamed',
      'member_nested',
      'member_long',
      'member_repeated',
      'awkward_spelling',
    ],
    byDefault: 'the members of the contract',
    otherwise: 'any member in another form',
  },
  'event-readings': {
    options: ['event'],
    faults: ['status_respelled', 'name_respelled', 'member_missing', 'member_null', 'member_type'],
    byDefault: 'the documented form',
    otherwise: 'any other form, also those that are read',
  },
  'other-events': {
    options: ['faults', 'event'],
    faults: ['unfamiliar_name', 'sell_side', 'name_respelled', 'extra_members'],
    byDefault: 'none',
    otherwise: 'names and members that are not published',
  },
  'callback-reply': {
    options: ['callbackReceived'],
    byDefault: '2xx is received',
    otherwise: 'only 200, or anything',
  },
  'event-content-type': {
    options: ['callbackContentType'],
    byDefault: 'application/json',
    otherwise: 'any Content-Type, or none',
  },
  'callback-retry': {
    options: ['callbackRetry'],
    faults: ['drop'],
    byDefault: 'posted once',
    otherwise: 'any number of times, or never',
  },
  'event-order': {
    options: ['faults'],
    faults: ['reorder', 'delay', 'before_reply', 'duplicate', 'concurrent_duplicate'],
    byDefault: 'one after another, after the reply',
    otherwise: 'late, twice, swapped, before the reply',
  },
  'order-transitions': {
    options: ['orderTransitions'],
    byDefault: '[as above](#where-the-contract-is-silent)',
    otherwise: 'any step after any other',
  },
  versioning: { options: ['paths'], byDefault: 'v1', otherwise: 'any path' },
  'event-replay': {
    options: ['faults'],
    faults: ['duplicate', 'old_key', 'forged', 'tampered'],
    byDefault: 'each event once',
    otherwise: 'again, also under keys that are gone; `redeliver` at any time',
  },
} as const satisfies Record<AssumptionId, LedgerPlay>;
