import { ConfigurationError } from '../../errors/configuration-error.ts';
import { isSignatureError, SignatureError } from '../../errors/signature-error.ts';
import { checkNames, type OptionNames } from '../../options/check-names.ts';
import { decodeBody } from '../../signature/decode-body.ts';
import { checkScheme, type SignatureScheme } from '../../signature/signature-scheme.ts';
import { type VerifiedBody, verifyBody } from '../../signature/verify-body.ts';
import { normalizeScheme } from '../detection/scheme-space.ts';
import { type PinKeys, pinKeys } from './pin-keys.ts';
import { keyDigestOf, type PinFixture, readPin, type SchemePin } from './scheme-pin.ts';

const keyOptionNames = { key: true, credentials: true } satisfies OptionNames<PinKeys>;

type Body = string | Uint8Array;

export interface PinOptions extends PinKeys {
  /** The scheme, as found by `detectScheme`. */
  scheme: SignatureScheme;
  /** Raw signed bodies that prove it; the pin keeps them unchanged. */
  samples: Body | readonly Body[];
}

/**
 * Makes a pin of a scheme and the samples that prove it, to be kept as a JSON file and checked in CI with
 * {@link checkPin}. Every sample has to verify.
 *
 * @throws {SignatureError} naming the sample that does not verify
 * @throws {ConfigurationError} `invalid_scheme`, `invalid_credentials`, or `invalid_option` without samples
 * @throws {KeyError} `keys_unavailable` for a key ring that has not read its keys yet
 */
export function pinScheme(options: PinOptions): SchemePin {
  checkNames('pinScheme', options, { scheme: true, samples: true, ...keyOptionNames });
  const scheme = normalizeScheme(checkScheme(options.scheme));
  const keys = pinKeys(options, scheme);
  const bodies = listOf(options.samples);
  if (bodies.length === 0) throw invalid('A pin needs at least one sample: without any it proves nothing.');
  const fixtures = bodies.map((body, index) => {
    const { value, keyIndex } = verifyNamed(`Sample ${index}`, body, { keys, scheme });
    const fixture = { body: decodeBody(body), keyDigest: keyDigestOf(keys[keyIndex] ?? '') };
    return { ...fixture, signature: String(value.signature) };
  });
  return { scheme, fixtures };
}

export interface CheckPinOptions extends PinKeys {
  /** Further signed bodies, e.g. recent captures: they must fit the pinned scheme too. */
  samples?: Body | readonly Body[] | undefined;
}

/** The content of a valid pin. */
export interface CheckedPin {
  /** For `defineDeployment({ signature })`. */
  readonly scheme: SignatureScheme;
  readonly fixtures: number;
  readonly samples: number;
}

/**
 * Checks that a pinned scheme still verifies every fixture and every further sample. It throws if not, so a test needs
 * only this call.
 *
 * @param pin made by {@link pinScheme}, also read back from its JSON; anything else is refused
 * @throws {SignatureError} naming the fixture or sample that does not verify
 * @throws {ConfigurationError} `invalid_option` or `invalid_scheme` for a malformed pin; `invalid_credentials` if the
 *   key of a fixture is missing, naming the fixture
 * @throws {KeyError} `keys_unavailable` for a key ring that has not read its keys yet
 * @example
 * ```ts
 * test('the deployment signs as it did', () => {
 *   checkPin(JSON.parse(readFileSync('signature-pin.json', 'utf8')), { credentials });
 * });
 * ```
 */
export function checkPin(pin: unknown, options: CheckPinOptions): CheckedPin {
  checkNames('checkPin', options, { samples: true, ...keyOptionNames });
  const { scheme, fixtures } = readPin(pin);
  const keys = pinKeys(options, scheme);
  for (const [index, fixture] of fixtures.entries())
    checkFixture(`Fixture ${index}`, fixture, { keys, scheme });
  const samples = listOf(options.samples);
  for (const [index, body] of samples.entries()) verifyNamed(`Sample ${index}`, body, { keys, scheme });
  return { scheme, fixtures: fixtures.length, samples: samples.length };
}

interface Check {
  readonly keys: readonly string[];
  readonly scheme: SignatureScheme;
}

function checkFixture(name: string, fixture: PinFixture, { keys, scheme }: Check): void {
  const key = keys.find((each) => keyDigestOf(each) === fixture.keyDigest);
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
  try {
    return verifyBody(body, { key: keys, scheme });
  } catch (error) {
    if (!isSignatureError(error)) throw error;
    const { code, message, assumptions } = error;
    const hint = code === 'signature_mismatch' ? ' explainMismatch says more.' : '';
    throw new SignatureError(code, `${name}: ${message}${hint}`, { assumptions });
  }
}

function listOf(samples: Body | readonly Body[] | undefined): readonly Body[] {
  if (samples === undefined) return [];
  return typeof samples === 'string' || ArrayBuffer.isView(samples) ? [samples] : samples;
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError('invalid_option', message);
}
