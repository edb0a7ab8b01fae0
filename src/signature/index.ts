/**
 * Sign bodies and verify signed ones. Needs nothing but `node:crypto`.
 *
 * @module partner-exchange-sdk/signature
 */
export type { PartnerCredentials } from '../credentials/partner-credentials.ts';
export { type SigningPurpose, signingKey } from '../credentials/signing-key.ts';
export { ConfigurationError, isConfigurationError } from '../errors/configuration-error.ts';
export { PartnerExchangeError } from '../errors/partner-exchange-error.ts';
export { isPartnerExchangeError, type SdkError } from '../errors/sdk-error.ts';
export { isSignatureError, SignatureError, type SignatureErrorCode } from '../errors/signature-error.ts';
export { isValidationError, ValidationError, type ValidationIssue } from '../errors/validation-error.ts';
export type { JsonObject, JsonValue } from '../json/json-value.ts';
export type { Serialization } from './serializations.ts';
export { type SignedBody, type SignOptions, signBody } from './sign-body.ts';
export { type Construction, defaultScheme, type Encoding, type SignatureScheme } from './signature-scheme.ts';
export { type VerifiedBody, type VerifyOptions, verifyBody } from './verify-body.ts';
