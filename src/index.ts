/**
 * Clients for the exchange and the messenger, and what configures them.
 *
 * @module partner-exchange-sdk
 */

export type { AcceptedOrderReply } from './client/accepted-order-reply.ts';
export type { CallOptions, ReplyBody, ReplySchema } from './client/call-options.ts';
export type {
  ClientOptions,
  ObservedAttempt,
  ObservedResponse,
  UnansweredAttempt,
} from './client/client-options.ts';
export type { ExchangeClientOptions, PartnerIdentity } from './client/exchange-client.ts';
export { ExchangeClient } from './client/exchange-client.ts';
export {
  type ApiKeyRequest,
  type DeviceKey,
  type MessageRequest,
  MessengerClient,
  type MessengerClientOptions,
  type NumberCheckRequest,
} from './client/messenger-client.ts';
export type { OrderCallOptions, PreparedOrder } from './client/prepared-order.ts';
export type { Reply } from './client/reply.ts';
export { createKeyRing, type KeyRingOptions } from './credentials/create-key-ring.ts';
export { defineCredentials } from './credentials/define-credentials.ts';
export type { KeyRing, KeySets, LoadedKeys } from './credentials/key-ring.ts';
export type { KeyOrigin, PartnerCredentials, PartnerNames } from './credentials/partner-credentials.ts';
export { type AddressForm, type AddressForms, addressForms } from './deployment/addresses/address-forms.ts';
export type { AddressReason, AddressVerdict } from './deployment/addresses/address-reasons.ts';
export {
  type AddressCheck,
  type CheckAddressOptions,
  checkAddress,
} from './deployment/addresses/check-address.ts';
export { type Assumption, type AssumptionId, assumptions } from './deployment/assumptions.ts';
export {
  type Deployment,
  type DeploymentOptions,
  defineDeployment,
} from './deployment/define-deployment.ts';
export type { EventStatuses } from './deployment/event-statuses.ts';
export type { DeploymentFile, DuplicateIds, LearntDeployment } from './deployment/learnt-deployment.ts';
export { usualMessageReply } from './deployment/message-reply.ts';
export type { BaseUrlName, Operation, OperationPaths } from './deployment/operations.ts';
export {
  type AcceptingReply,
  type OrderStatuses,
  type ReceivedReply,
  type ReplyRules,
  type ReplyVerdict,
  usualOrderReply,
} from './deployment/order-reply.ts';
export {
  type BuyOrder,
  type BuyOrderMembers,
  type KeepsUnknownMembers,
  reportedBuyOrder,
} from './deployment/order-schema.ts';
export { type Environment, readEnvironment } from './deployment/read-environment.ts';
export type { KnownOrder, SameOrder } from './deployment/same-order.ts';
export type { StandardIssue, StandardResult, StandardSchema } from './deployment/standard-schema.ts';
export type { BrandedName, WireNames } from './deployment/wire-names.ts';
export {
  ConfigurationError,
  type ConfigurationErrorCode,
  InboxError,
  type InboxErrorCode,
  isConfigurationError,
  isInboxError,
  isKeyError,
  isOnceError,
  isOrderError,
  isOtpError,
  isPartnerExchangeError,
  isRequestError,
  isSignatureError,
  isStoreError,
  isValidationError,
  KeyError,
  type KeyErrorCode,
  OnceError,
  type OnceErrorCode,
  OrderError,
  type OrderErrorCode,
  OtpError,
  type OtpErrorCode,
  PartnerExchangeError,
  RequestError,
  type RequestErrorCode,
  type RequestOutcome,
  type SdkError,
  SignatureError,
  type SignatureErrorCode,
  StoreError,
  type StoreErrorCode,
  ValidationError,
  type ValidationErrorCode,
  type ValidationIssue,
} from './errors/errors.ts';
export type { PayerAccount } from './events/event-types.ts';
export type { RetryDelays } from './internal/backoff.ts';
export type { JsonObject, JsonValue } from './internal/json.ts';
export type { OrderState } from './orders/order-state.ts';
export type { OtpLimit } from './otp/otp-limit.ts';
export type { Serialization } from './signature/serializations.ts';
export type { SignatureScheme } from './signature/signature-scheme.ts';
