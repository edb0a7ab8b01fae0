/**
 * The service, simulated: a `fetch` function and an HTTP server around it.
 *
 * @module partner-exchange-sdk/sandbox
 */
export { ConfigurationError, isConfigurationError } from '../errors/configuration-error.ts';
export { isPartnerExchangeError, type SdkError } from '../errors/sdk-error.ts';
export { isValidationError, ValidationError, type ValidationIssue } from '../errors/validation-error.ts';
export type { SandboxDelivery } from './callbacks/delivery-queue.ts';
export { createSandbox } from './create-sandbox.ts';
export type { ListenOptions, SandboxServer } from './http/listen.ts';
export type { SandboxMessage } from './messenger/messenger-registry.ts';
export type { SandboxOrderState, SandboxOrderStep } from './orders/order-steps.ts';
export type { SandboxOrder } from './orders/sandbox-order.ts';
export type { SandboxCredentials, SandboxEmail } from './partners/partner-registry.ts';
export type { Sandbox, SandboxRequestInit } from './sandbox.ts';
export type { SandboxOptions } from './sandbox-options.ts';
