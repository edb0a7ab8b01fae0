/**
 * Key rotation that cannot lose keys.
 *
 * @module partner-exchange-sdk/keys
 */
export type { KeySets } from '../credentials/key-ring.ts';
export type { KeyOrigin, PartnerCredentials, PartnerNames } from '../credentials/partner-credentials.ts';
export {
  ConfigurationError,
  isConfigurationError,
  isKeyError,
  isRequestError,
  KeyError,
  type KeyErrorCode,
} from '../errors/errors.ts';
export type { RecordStore } from '../store/record-store.ts';
export { type AesGcmKey, type AesGcmOptions, aesGcm, type TextCipher } from './aes-gcm.ts';
export {
  createKeyRotation,
  type KeyRequestOptions,
  type KeyRotation,
  type KeyRotationOptions,
} from './create-key-rotation.ts';
export type { KeyStorage } from './rotation-state.ts';
export type { KeyStatus, RotationStatus } from './rotation-steps.ts';
export { type StoredKeysOptions, storedKeys } from './stored-keys.ts';
