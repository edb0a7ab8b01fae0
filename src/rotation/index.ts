/**
 * Key rotation that cannot lose keys.
 *
 * @module partner-exchange-sdk/rotation
 */
export type { KeySets } from '../credentials/key-sets.ts';
export type { PartnerCredentials } from '../credentials/partner-credentials.ts';
export {
  ConfigurationError,
  type ConfigurationErrorCode,
  isConfigurationError,
} from '../errors/configuration-error.ts';
export { isKeyError, KeyError, type KeyErrorCode } from '../errors/key-error.ts';
export { isRequestError, RequestError } from '../errors/request-error.ts';
export { isPartnerExchangeError, type SdkError } from '../errors/sdk-error.ts';
export type { RecordStore } from '../store/record-store.ts';
export {
  createKeyRotation,
  type KeyRequestOptions,
  type KeyRotation,
  type KeyRotationOptions,
} from './create-key-rotation.ts';
export { type KeyFileOptions, keyFile } from './key-file.ts';
export type { KeyStorage } from './key-storage.ts';
export type { KeyStatus, RotationStatus } from './rotation-status.ts';
export { type StoredKeysOptions, storedKeys } from './stored-keys.ts';
