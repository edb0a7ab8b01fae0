/**
 * Receive signed order events: verify, parse, dispatch.
 *
 * @module partner-exchange-sdk/webhooks
 */

export { createKeyRing, type KeyRingOptions } from '../credentials/create-key-ring.ts';
export type { KeyRing } from '../credentials/key-ring.ts';
export type { KeySets, LoadedKeys } from '../credentials/key-sets.ts';
export type { PartnerCredentials } from '../credentials/partner-credentials.ts';
export type { MatchedKey } from '../credentials/verification-keys.ts';
export {
  ConfigurationError,
  type ConfigurationErrorCode,
  isConfigurationError,
} from '../errors/configuration-error.ts';
export { InboxError, type InboxErrorCode, isInboxError } from '../errors/inbox-error.ts';
export { isKeyError, KeyError, type KeyErrorCode } from '../errors/key-error.ts';
export { isPartnerExchangeError, type SdkError } from '../errors/sdk-error.ts';
export { isSignatureError, SignatureError, type SignatureErrorCode } from '../errors/signature-error.ts';
export type { OrderEvent, OrderEventName, OrderEventOf } from '../events/order-event.ts';
export type {
  AttemptResult,
  Delivery,
  DeliveryReference,
  HandleDelivery,
  Inbox,
  InboxHost,
  InboxResult,
} from '../inbox/inbox.ts';
export type { JsonObject, JsonValue } from '../json/json-value.ts';
export { createWebhooks, type Webhooks } from './create-webhooks.ts';
export type { DeliveryReport } from './delivery-report.ts';
export type { EventContext, EventHandler, UnrecognizedEvent } from './handlers.ts';
export {
  type FastifyPluginOptions,
  type FastifyReplyParts,
  type FastifyScope,
  fastifyPlugin,
} from './http/fastify-plugin.ts';
export { type LambdaRequest, type LambdaResponse, lambdaHandler } from './http/lambda-handler.ts';
export type { NodeRequest } from './http/node-body.ts';
export type { NodeResponse } from './http/node-handler.ts';
export type { WebhookResponse } from './http/webhook-response.ts';
export type { WholeRequest } from './http/whole-request.ts';
export type { KeySearchOptions } from './key-search/key-search-options.ts';
export type { Outcome, RequestRefusalCode } from './outcome.ts';
export type { RefusedBody } from './refused-body.ts';
export type { WebhooksOptions } from './webhooks-options.ts';
