import { createHash } from 'node:crypto';
import { isKeyRing, type KeyRing, loadedKeys } from '../../../credentials/key-ring.ts';
import type { PartnerCredentials } from '../../../credentials/partner-credentials.ts';
import { merchantsFor, signingKey } from '../../../credentials/signing-key.ts';
import { ConfigurationError, reworded, whatFailed } from '../../../errors/errors.ts';
import { isJsonObject } from '../../../internal/json.ts';
import { defineOptions, type OptionTable, unchecked } from '../../../internal/options.ts';
import { checkScheme, type SignatureScheme, schemePartNames } from '../../../signature/signature-scheme.ts';
import { decodeBody } from '../../../signature/signed-body.ts';
import { tryVerify } from '../../../signature/try-verify.ts';
import { checkVerificationKeys, type VerifiedBody } from '../../../signature/verify-body.ts';
import { normalizeScheme } from '../detection/scheme-space.ts';

/** @inline */
type Body = string | Uint8Array;

/** Options of {@link pinScheme}. */
export interface PinOptions extends PinKeys {
  /** The scheme, as found by `detectScheme`. */
  scheme: SignatureScheme;
  /** Raw signed bodies that prove it; the pin keeps them unchanged. */
  samples: Body | readonly Body[];
}

/**
 * Pins a scheme with the samples that prove it. Keep the pin as a JSON file, and check it in CI with {@link
 * checkPin}. Every sample has to verify.
 *
 * @throws {SignatureError} naming the sample that does not verify
 * @throws {ConfigurationError} `invalid_scheme`, `invalid_credentials`, or `invalid_option` without samples
 * @throws {KeyError} `keys_unavailable` for a key ring that has not read its keys yet
 */
export function pinScheme(options: PinOptions): SchemePin {
  const { scheme, samples, ...keyOptions } = readPinOptions(options);
  const keys = pinKeys(keyOptions, scheme);
  const bodies = listOf(samples);
  if (bodies.length === 0) throw invalid('A pin needs at least one sample: without any it proves nothing.');
  const fixtures = bodies.map((body, index) => {
    const { value, keyIndex } = verifyNamed(`Sample ${index}`, body, { keys, scheme });
    const fixture = { body: decodeBody(body), keyDigest: keyDigestOf(keys[keyIndex] ?? '') };
    return { ...fixture, signature: String(value.signature) };
  });
  return { scheme, fixtures };
}

/** Options of {@link checkPin}. */
export interface CheckPinOptions extends PinKeys {
  /** Further signed bodies, e.g. recent captures, which must fit the pinned scheme too. */
  samples?: Body | readonly Body[] | undefined;
}

/** The scheme of a pin, and what proves it. */
export interface CheckedPin {
  /** For `defineDeployment({ signature })`. */
  readonly scheme: SignatureScheme;
  /** How many of the pin's fixtures were verified. */
  readonly fixtures: number;
  /** How many of the given samples were verified. */
  readonly samples: number;
}

/**
 * Checks that a pinned scheme verifies every fixture and every further sample. It throws if not, so a test needs
 * only this call.
 *
 * @param pin made by {@link pinScheme}, or parsed from its JSON
 * @throws {SignatureError} naming the fixture or sample that does not verify
 * @throws {ConfigurationError} `invalid_option` or `invalid_scheme` for a malformed pin; `invalid_credentials` if
 * the key of a fixture is missing, naming the fixture
 * @throws {KeyError} `keys_unavailable` for a key ring that has not read its keys yet
 * @example
 * ```ts
 * test('the deployment signs as it did', () => {
 *   checkPin(JSON.parse(readFileSync('signature-pin.json', 'utf8')), { credentials });
 * });
 * ```
 */
export function checkPin(pin: unknown, options: CheckPinOptions): CheckedPin {
  const settings = readCheckOptions(options);
  const { scheme, fixtures } = readPin(pin);
  const keys = pinKeys(settings, scheme);
  for (const [index, fixture] of fixtures.entries())
    checkFixture(`Fixture ${index}`, fixture, { keys, scheme });
  const samples = listOf(settings.samples);
  for (const [index, body] of samples.entries()) verifyNamed(`Sample ${index}`, body, { keys, scheme });
  return { scheme, fixtures: fixtures.length, samples: samples.length };
}

/** `pinKeys` and `verifyBody` check keys and bodies. */
const sharedRows = {
  key: unchecked<string | readonly string[]>(),
  credentials: unchecked<NonNullable<PinKeys['credentials']>>(),
  samples: unchecked<Body | readonly Body[]>(),
};

const readPinOptions = defineOptions('pinScheme', {
  ...sharedRows,
  // Sound: checkScheme checks it.
  scheme: (given) => normalizeScheme(checkScheme(given as SignatureScheme)),
});

const readCheckOptions = defineOptions('checkPin', sharedRows satisfies OptionTable<CheckPinOptions>);

interface Check {
  readonly keys: readonly string[];
  readonly scheme: SignatureScheme;
}

function checkFixture(name: string, fixture: PinFixture, { keys, scheme }: Check): void {
  const key = keys.find((candidate) => keyDigestOf(candidate) === fixture.keyDigest);
  if (key === undefined) {
    throw new ConfigurationError(
      'invalid_credentials',
      `${name} of the pin needs the key with the digest ${fixture.keyDigest}, which is not among those given.`,
    );
  }
  const { value } = verifyNamed(`${name} of the pin`, fixture.body, { keys: [key], scheme });
  if (value.signature !== fixture.signature) {
    throw invalid(`${name} of the pin has another signature than its body: the file was edited.`);
  }
}

function verifyNamed(name: string, body: Body, { keys, scheme }: Check): VerifiedBody {
  const verdict = tryVerify(body, keys, scheme);
  const { refusal } = verdict;
  if (refusal === undefined) return verdict;
  throw reworded(refusal, { what: `${name}: ${whatFailed(refusal)}` });
}

function listOf(samples: Body | readonly Body[] | undefined): readonly Body[] {
  if (samples === undefined) return [];
  return typeof samples === 'string' || ArrayBuffer.isView(samples) ? [samples] : samples;
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError('invalid_option', message);
}

/** Give one of the two. */
export interface PinKeys {
  /** The key that signs, or several. */
  key?: string | readonly string[] | undefined;
  /**
   * Tries every key that they make under the scheme: for orders with each merchant, and for general requests. A key
   * ring needs `await ring.reload()` first.
   */
  credentials?: PartnerCredentials | readonly PartnerCredentials[] | KeyRing | undefined;
}

/** @throws {ConfigurationError} `invalid_credentials` @throws {KeyError} `keys_unavailable` */
export function pinKeys({ key, credentials }: PinKeys, scheme: SignatureScheme): readonly string[] {
  if ((key === undefined) === (credentials === undefined)) {
    throw new ConfigurationError('invalid_credentials', 'A pin needs either key or credentials.');
  }
  if (key !== undefined) return checkVerificationKeys(key);
  return checkVerificationKeys(
    generationsOf(credentials).flatMap((generation) => keysOf(generation, scheme)),
  );
}

function keysOf(credentials: PartnerCredentials, scheme: SignatureScheme): string[] {
  const general = signingKey(credentials, 'general');
  const needsMerchant = (scheme.orderKey ?? 'merchant+partner').includes('merchant');
  const hasMerchant =
    credentials.merchantSecretKey !== undefined || credentials.merchantSecretKeys !== undefined;
  if (needsMerchant && !hasMerchant) return [general];
  const orders = merchantsFor(credentials, scheme).map((merchant) =>
    signingKey(credentials, 'order', { merchant, scheme }),
  );
  return [...orders, general];
}

function generationsOf(credentials: PinKeys['credentials']): readonly PartnerCredentials[] {
  return isKeyRing(credentials) ? loadedKeys(credentials).verifying : [credentials ?? []].flat();
}

/** A scheme with its proof: plain JSON for your repository, without keys. */
export interface SchemePin {
  /** For `defineDeployment({ signature })`. */
  readonly scheme: SignatureScheme;
  /** Signed bodies that prove the scheme. */
  readonly fixtures: readonly PinFixture[];
}

/** A body of a pin, which proves its scheme. */
export interface PinFixture {
  /** The signed body as received, signature included. Check its content before you commit it. */
  readonly body: string;
  /** Identifies the key: `sha256:` and the first 16 hexadecimal digits of a labelled digest of it. */
  readonly keyDigest: string;
  /** The signature of the body. */
  readonly signature: string;
}

/** Labelled, so that this digest of the key has no other use. */
function keyDigestOf(key: string): string {
  const digest = createHash('sha256').update(`partner-exchange-sdk pin\n${key}`).digest('hex');
  return `sha256:${digest.slice(0, keyDigestDigits)}`;
}

const keyDigestDigits = 16;

/** @throws {ConfigurationError} `invalid_option`, or `invalid_scheme` */
function readPin(pin: unknown): SchemePin {
  if (!isJsonObject(pin)) throw invalidPin('is not an object: parse the file first');
  const { scheme, fixtures } = pin;
  if (!isJsonObject(scheme)) throw invalidPin('has no scheme');
  const unknown = Object.keys(scheme).find((part) => !schemePartNames.some((name) => name === part));
  if (unknown !== undefined) throw invalidPin(`has a scheme with the unknown part "${unknown}"`);
  if (!Array.isArray(fixtures) || fixtures.length === 0)
    throw invalidPin('has no fixtures: nothing would be checked');
  return {
    // Sound: checkScheme refuses every other value.
    scheme: normalizeScheme(checkScheme(scheme as unknown as SignatureScheme)),
    fixtures: fixtures.map(readFixture),
  };
}

function readFixture(fixture: unknown, index: number): PinFixture {
  if (!isJsonObject(fixture)) throw invalidPin(`has a fixture ${index} that is not an object`);
  const { body, keyDigest, signature } = fixture;
  if (typeof body !== 'string') throw invalidPin(`has a fixture ${index} whose body is not text`);
  if (typeof signature !== 'string') throw invalidPin(`has a fixture ${index} whose signature is not text`);
  if (typeof keyDigest !== 'string' || !isKeyDigest(keyDigest)) {
    throw invalidPin(`has a fixture ${index} whose keyDigest is not "sha256:" and ${keyDigestDigits} digits`);
  }
  return { body, keyDigest, signature };
}

function isKeyDigest(text: string): boolean {
  return text.length === 'sha256:'.length + keyDigestDigits && /^sha256:[0-9a-f]+$/.test(text);
}

function invalidPin(what: string): ConfigurationError {
  return new ConfigurationError('invalid_option', `The pin ${what}.`);
}
