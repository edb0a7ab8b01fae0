/**
 * The service, simulated: a `fetch` function and an HTTP server around it.
 *
 * @module partner-exchange-sdk/sandbox
 */
export { ConfigurationError, isConfigurationError } from '../errors/configuration-error.ts';
export { isValidationError, ValidationError, type ValidationIssue } from '../errors/validation-error.ts';
export { createSandbox } from './create-sandbox.ts';
export type { SandboxDelivery } from './event-postman.ts';
export type { ListenOptions, SandboxServer } from './listen.ts';
export type { SandboxMessage } from './messenger-desk.ts';
export type { SandboxOrderState, SandboxOrderStep } from './order-steps.ts';
export type { SandboxCredentials, SandboxEmail } from './partner-registry.ts';
export type { Sandbox, SandboxRequestInit } from './sandbox.ts';
export type { SandboxOptions } from './sandbox-options.ts';
export type { SandboxOrder } from './sandbox-order.ts';
