/**
 * Receive signed order events: verify, parse, dispatch.
 *
 * @module partner-exchange-sdk/webhooks
 */

export type { KeyRing, KeySets } from '../credentials/key-ring.ts';
export type { KeyOrigin, PartnerCredentials, PartnerNames } from '../credentials/partner-credentials.ts';
export type { MatchedKey } from '../credentials/verification-keys.ts';
export type { FailureCode, ValidationIssue } from '../errors/errors.ts';
export {
  ConfigurationError,
  InboxError,
  isConfigurationError,
  isInboxError,
  isKeyError,
  isSignatureError,
  KeyError,
  type RequestRefusalCode,
  SignatureError,
} from '../errors/errors.ts';
export type { EventReading } from '../events/event-readings.ts';
export type { OrderEvent, OrderEventName, OrderEventOf } from '../events/order-event.ts';
export type { UnrecognizedEvent } from '../events/parse-order-event.ts';
export type { DeliveryReference, Inbox } from '../inbox/inbox.ts';
export type { JsonObject, JsonValue } from '../internal/json.ts';
export type { ListRecordsOptions, RecordSet, RecordStore, StoredRecord } from '../store/record-store.ts';
export {
  type ClosableServer,
  type CloseServerOptions,
  closeServer,
} from './close-server.ts';
export { createWebhooks, type Webhooks } from './create-webhooks.ts';
export type { FindCredentials, UnverifiedDelivery } from './delivery-keys.ts';
export {
  type FastifyPluginOptions,
  type FastifyScope,
  fastifyPlugin,
} from './fastify-plugin.ts';
export type { FetchRequest } from './fetch-handler.ts';
export type { EventContext, EventHandler, MemberOf } from './handlers.ts';
export { type LambdaRequest, type LambdaResponse, lambdaHandler } from './lambda-handler.ts';
export type { NodeRequest, NodeResponse } from './node-handler.ts';
export type { DeliveryReport, ReceiveOutcome, RefusedBody } from './receive-outcome.ts';
export { type UnwrapOptions, unwrap } from './unwrap.ts';
export type { BufferedRequest, DeliveryRequest, WebhookResponse } from './webhook-endpoint.ts';
export type { WebhooksOptions } from './webhooks-options.ts';
