import { addressForms } from '../../../deployment/addresses/address-forms.ts';
import { closedStatuses } from '../../../deployment/event-statuses.ts';
import { orderEventNames } from '../../../events/event-names.ts';
import { isSettledStatus, isThirdPartyKycError } from '../../../events/status.ts';
import {
  memberJudge,
  observeAddress,
  observeContentType,
  observeReadings,
  observeReferenceName,
  observeShape,
  observeStatuses,
  observeThirdPartyError,
  observeTimeLikeMember,
  observeTimestamp,
} from './event-evidence.ts';
import { speaksFor } from './evidence.ts';
import type { RowJudge } from './row-judge.ts';

const eventsWithClosedStatuses = Object.keys(closedStatuses);
const published = orderEventNames.filter((name) => name !== 'event.buy.third_party_error');

/** The rows that events show. */
export const judgedEvents = {
  'several-merchants': {
    least: 2,
    leastFound: 2,
    leastAgainst: 1,
    howToSee: 'Give merchantSecretKeys, and capture events in two currencies or more.',
    event: ({ merchant }) => (merchant === undefined ? undefined : speaksFor(merchant)),
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
  'terminal-crypto-status': {
    ...memberJudge(['crypto_payment_status'], {
      event: 'event.buy.credited.crypto',
      isDocumented: isSettledStatus,
      howToSee: 'Wait for three credited orders.',
    }),
    leastAgainst: 3,
  },
  'event-statuses': {
    least: 10,
    leastAgainst: 3,
    each: eventsWithClosedStatuses,
    howToSee: `Capture ten events or more, with each of ${eventsWithClosedStatuses.join(', ')}.`,
    event: observeStatuses,
  },
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
  'event-content-type': {
    least: 10,
    leastAgainst: 1,
    howToSee: 'Capture ten events or more with their headers (listen --save).',
    event: observeContentType,
  },
  'event-order': {
    least: 1,
    leastAgainst: 1,
    takesRepeated: true,
    howToSee: 'Wait: no event so far came twice or out of order.',
    event: ({ disorder }) => (disorder === undefined ? undefined : speaksFor(disorder)),
  },
  'event-replay': {
    least: 10,
    leastAgainst: 3,
    howToSee: 'Capture ten events or more.',
    event: observeTimeLikeMember,
  },
} as const satisfies Readonly<Record<string, RowJudge>>;
