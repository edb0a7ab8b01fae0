import type { SignatureScheme } from '../../../signature/signature-scheme.ts';

/**
 * The keys to try, as issued. At least one is needed. Prefixes are not checked, so that swapped and padded keys can
 * be found.
 */
export interface DetectionSecrets {
  /** The partner secret. */
  readonly partnerSecretKey?: string | undefined;
  /** The merchant secret. */
  readonly merchantSecretKey?: string | undefined;
  /** Further merchants by name, as in credentials. Each is tried with every sample. */
  readonly merchantSecretKeys?: Readonly<Record<string, string>> | undefined;
  /** The public key, which some services make part of the key for orders. */
  readonly partnerPublicKey?: string | undefined;
}

export type SecretName = Exclude<keyof DetectionSecrets, 'merchantSecretKeys'>;

/**
 * - `found`: exactly one scheme fits the usable samples. One that no scheme fits, which anybody can post, does not count,
 *   nor does a copy of another sample in another spelling.
 * - `ambiguous`: several fit, and these samples cannot decide between them.
 * - `none`: no scheme fits any sample; see the near misses.
 * - `contradictory`: samples fit different schemes, and none fits all of these; see `fits` of each sample.
 * - `unusable`: there is no readable sample, or no secret.
 */
export type DetectionVerdict = 'found' | 'ambiguous' | 'none' | 'contradictory' | 'unusable';

/** The result of a search for the scheme: plain data, without secrets and expected signatures. */
export interface SchemeDetection {
  /** Whether exactly one scheme was found. */
  readonly verdict: DetectionVerdict;
  /** The verdict and the next step. */
  readonly message: string;
  /** Every scheme that fits the usable samples, the most plausible and safest first. */
  readonly survivors: readonly Survivor[];
  /** The parts of a scheme in which the survivors differ. */
  readonly undecided: readonly (keyof SignatureScheme)[];
  /** Schemes that would fit if one part of the input were different. */
  readonly nearMisses: readonly NearMiss[];
  /** One per sample, in the given order. */
  readonly samples: readonly SampleReport[];
}

/** A scheme that fits the usable samples. */
export interface Survivor {
  /** For `defineDeployment({ signature })`. */
  readonly scheme: SignatureScheme;
  /** The weaknesses of the scheme. */
  readonly notes: readonly SafetyNote[];
}

/**
 * - `length-extension`: a forger can append to the signed text.
 * - `plain-hash`: a plain hash instead of an HMAC.
 * - `field-shifting`: text can move from one member to another under the same signature.
 * - `names-unsigned`: members can be renamed as long as their order stays.
 * - `types-unsigned`: `1` and `"1"`, or null and the empty text, have the same signature.
 * - `lossy`: the parsed body is signed, so different texts have the same signature.
 * - `secret-alone`: the key for orders leaves one of the two secrets out.
 * - `public-key`: part of the key is not secret.
 */
export type SafetyNoteCode =
  | 'length-extension'
  | 'plain-hash'
  | 'field-shifting'
  | 'names-unsigned'
  | 'types-unsigned'
  | 'lossy'
  | 'secret-alone'
  | 'public-key';

/** A weakness of a scheme. */
export interface SafetyNote {
  /** The weakness. */
  readonly code: SafetyNoteCode;
  /** The weakness, as a sentence. */
  readonly message: string;
}

/**
 * - `forged`: signed with the public key alone or without a key, as anybody can.
 * - `secret-padded`: fits when the given secret is trimmed.
 * - `secret-with-newline`, `secret-with-blank`: the signer's secret ends with one.
 * - `secret-without-prefix`: the signer leaves out the secret's prefix.
 * - `secrets-swapped`: fits with the given secrets exchanged.
 * - `key-for-orders`: a general request is signed with the key for orders.
 * - `signature-in-body`: the body was signed with a `signature` member in it.
 * - `stringified-twice`: the JSON text became a JSON string before it was signed.
 * - `nested-unsigned`: most nested members were left out when the body was signed.
 * - `newline-signed`: a line break after the body was signed.
 * - `numbers-respelled`: the signer read the numbers and wrote them differently.
 * - `other-spelling`: another spelling of the same body was signed.
 */
export type NearMissCode =
  | 'forged'
  | 'secret-padded'
  | 'secret-with-newline'
  | 'secret-with-blank'
  | 'secret-without-prefix'
  | 'secrets-swapped'
  | 'key-for-orders'
  | 'signature-in-body'
  | 'stringified-twice'
  | 'nested-unsigned'
  | 'newline-signed'
  | 'numbers-respelled'
  | 'other-spelling';

/** A scheme that would fit if one part of the input were different. */
export interface NearMiss {
  /** The difference. */
  readonly code: NearMissCode;
  /** The difference and how to fix it. */
  readonly message: string;
  /** The scheme that fits then. For `forged` and `nested-unsigned` it
   * describes what was done, and is not to be configured. */
  readonly scheme: SignatureScheme;
  /** The indexes of the samples that it fits. At most three samples are searched for near misses. */
  readonly samples: readonly number[];
}

/**
 * - `usable`: it was searched.
 * - `not-raw`: neither text nor bytes, e.g. a parsed object.
 * - `too-large`: longer than 64 KiB.
 * - `not-utf8`, `not-json`, `not-object`, `no-signature`, `duplicate-signature`: as in verification.
 * - `unreadable-signature`: not text, or no SHA-512 digest in any known encoding.
 * - `not-examined`: after the hundredth sample, or beyond 256 KiB in all.
 */
export type SampleStatus =
  | 'usable'
  | 'not-raw'
  | 'too-large'
  | 'not-utf8'
  | 'not-json'
  | 'not-object'
  | 'no-signature'
  | 'duplicate-signature'
  | 'unreadable-signature'
  | 'not-examined';

/** The result of a search in one sample. */
export interface SampleReport {
  /** Whether the sample could be searched. */
  readonly status: SampleStatus;
  /** The status, as a sentence without secrets. */
  readonly message: string;
  /** The schemes that fit this sample, ranked; empty if it is not usable. */
  readonly fits: readonly SignatureScheme[];
}
