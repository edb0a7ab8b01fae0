import {
  observeMessageReply,
  observeOldKeys,
  observePath,
  observeRateLimit,
  observeTakenOrder,
} from './captured-reply.ts';
import {
  observeOrderReply,
  observeRepeatedId,
  observeStatus,
  observeSuccess,
  observeWhitelist,
} from './order-log.ts';
import type { RowJudge } from './row-judge.ts';

const keepReplies = 'keep the replies (onResponse) and the events for an hour after them.';

/** The rows that calls and their replies show; those of orders with the events that follow. */
export const judgedCalls = {
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
  'partner-order-id': {
    least: 1,
    leastAgainst: 3,
    isOutweighed: true,
    howToSee: `Send three orders to the staging system twice, one of them twice at the same moment, and ${keepReplies}`,
    order: observeRepeatedId,
  },
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
  'message-reply': {
    least: 3,
    leastAgainst: 3,
    howToSee:
      'Send three messages to a phone that shows them, one of them while the device is not connected, and keep the replies (onResponse).',
    call: observeMessageReply,
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
} as const satisfies Readonly<Record<string, RowJudge>>;
