import type { AssumptionId } from '../../../src/deployment/assumptions.ts';
import type { EventFaultName } from '../../../src/devtools/sandbox/settings/event-faults.ts';
import type { RequestFaultName } from '../../../src/devtools/sandbox/settings/faults.ts';
import type { SandboxOptions } from '../../../src/devtools/sandbox/settings/sandbox-options.ts';

/** How the sandbox plays one point of the assumption ledger in another way, or why it cannot. */
export type LedgerPlay =
  | {
      /** Options of `createSandbox`. */
      readonly options?: readonly (keyof SandboxOptions)[];
      /** Faults of `sandbox.faults`. */
      readonly faults?: readonly (RequestFaultName | EventFaultName)[];
    }
  | { readonly unplayable: string };

/**
 * Every point of the ledger, and how the sandbox plays it. Tests hold it against the ledger, the options, and the table
 * in docs/details/sandbox.md.
 */
export const ledgerOptions = {
  'signature-construction': { options: ['signature'] },
  'signature-serialization': { options: ['signature', 'eventSpelling'] },
  'signature-encoding': { options: ['signature'] },
  'signature-key': { options: ['signature'] },
  'merchant-concatenation': { options: ['signature'] },
  'merchant-key-prefix': { options: ['partners'] },
  'several-merchants': { options: ['merchants'] },
  'key-lifetime': { options: ['reply'] },
  'old-keys-die': { options: ['oldKeysExpire'] },
  'regeneration-path': { options: ['paths'] },
  'order-path': { options: ['paths'] },
  'order-payload': { options: ['orderSchema', 'readOrder'] },
  'order-partner-id': { unplayable: 'the header is optional, and must be right' },
  'partner-order-id': { options: ['duplicateOrders', 'reply'] },
  'address-form': { options: ['addressForms'] },
  'event-matches-order': {
    options: ['event'],
    faults: ['credits_elsewhere', 'other_chain', 'other_currency', 'amount_differs'],
  },
  'branded-names': { options: ['wireNames'] },
  'allowed-values': { options: ['orderSchema'] },
  replies: {
    options: ['reply'],
    faults: ['other_reply', 'other_status', 'html', 'wrong_content_type', 'gzip', 'truncate', 'trickle'],
  },
  'order-reply': { options: ['reply'], faults: ['ok_with_error', 'other_reply', 'other_status'] },
  'message-reply': { options: ['reply'], faults: ['ok_with_error', 'other_reply', 'other_status', 'html'] },
  'order-conflict': { options: ['duplicateOrders', 'reply'], faults: ['conflict'] },
  'order-rate-limit': { faults: ['too_many_requests'] },
  errors: {
    options: ['reply'],
    faults: ['conflict', 'too_many_requests', 'server_error', 'redirect', 'reset', 'reply_lost', 'stall'],
  },
  'otp-refusal': { options: ['numbersNotOnMessenger', 'reply'], faults: ['html', 'server_error'] },
  'ip-whitelist': { options: ['whitelist', 'reply'] },
  'request-limits': { options: ['faults'], faults: ['too_many_requests', 'misdirected'] },
  'number-check': { options: ['paths', 'numberCheckParameters'] },
  'phone-form': { unplayable: 'the sandbox takes any text as a phone number' },
  'verify-check': { options: ['numbersNotOnMessenger'] },
  'api-key-form': { unplayable: 'every key begins with API-X-' },
  'terminal-crypto-status': { options: ['event'], faults: ['status_respelled'] },
  'event-statuses': { options: ['event'] },
  'third-party-spelling': { options: ['event'] },
  'third-party-error-body': { options: ['event'], faults: ['extra_members'] },
  'amount-units': { unplayable: 'a unit does not show in the values' },
  'timestamp-form': { options: ['event'] },
  'close-status': { options: ['event'] },
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
  },
  'event-readings': {
    options: ['event'],
    faults: ['status_respelled', 'name_respelled', 'member_missing', 'member_null', 'member_type'],
  },
  'other-events': {
    options: ['faults', 'event'],
    faults: ['unfamiliar_name', 'sell_side', 'name_respelled', 'extra_members'],
  },
  'callback-reply': { options: ['fetch'] },
  'event-content-type': { options: ['fetch'] },
  'callback-retry': { options: ['callbackRetry'], faults: ['drop'] },
  'event-order': {
    options: ['faults'],
    faults: ['reorder', 'delay', 'before_reply', 'duplicate', 'concurrent_duplicate'],
  },
  'order-transitions': { options: ['orderTransitions'] },
  versioning: { options: ['paths'] },
  'event-replay': { options: ['faults'], faults: ['duplicate', 'old_key', 'forged', 'tampered'] },
} as const satisfies Record<AssumptionId, LedgerPlay>;
