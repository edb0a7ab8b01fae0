/**
 * Sign bodies and verify signed ones. Needs nothing but `node:crypto`.
 *
 * @module partner-exchange-sdk/signature
 */
export type { PartnerCredentials } from '../credentials/partner-credentials.ts';
export {
  type KeyScheme,
  type SigningKeyOptions,
  type SigningPurpose,
  signingKey,
} from '../credentials/signing-key.ts';
export {
  ConfigurationError,
  isConfigurationError,
  isSignatureError,
  isValidationError,
  SignatureError,
  type SignatureErrorCode,
  ValidationError,
} from '../errors/errors.ts';
export type { JsonObject, JsonValue } from '../internal/json.ts';
export type { Serialization } from './serializations.ts';
export { type SignedBody, type SignOptions, signBody } from './sign-body.ts';
export { defaultScheme, type SignatureScheme } from './signature-scheme.ts';
export { type VerifiedBody, type VerifyOptions, verifyBody } from './verify-body.ts';
