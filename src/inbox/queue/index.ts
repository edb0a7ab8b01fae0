/**
 * An inbox on any queue: SQS, Pub/Sub, RabbitMQ, NATS JetStream, Cloudflare Queues.
 *
 * @module partner-exchange-sdk/inbox/queue
 */

export type { MatchedKey } from '../../credentials/verification-keys.ts';
export {
  InboxError,
  isInboxError,
} from '../../errors/errors.ts';
export type { StoreCallOptions } from '../../internal/limited-calls.ts';
export {
  type HandleMessageOptions,
  type MessageResult,
  type QueueInbox,
  type QueueInboxOptions,
  queueInbox,
} from './queue-inbox.ts';
export type { QueueMessage } from './queue-message.ts';
