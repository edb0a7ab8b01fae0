import { createHash } from 'node:crypto';
import { ConfigurationError } from '../../errors/configuration-error.ts';
import { isJsonObject } from '../../json/json-value.ts';
import { checkScheme, type SignatureScheme, schemePartNames } from '../../signature/signature-scheme.ts';
import { normalizeScheme } from '../detection/scheme-space.ts';

/** A scheme and the proof that it holds: plain JSON for your repository. Holds no key. */
export interface SchemePin {
  readonly scheme: SignatureScheme;
  readonly fixtures: readonly PinFixture[];
}

export interface PinFixture {
  /** The signed body as received, signature included: check what it holds before you commit it. */
  readonly body: string;
  /** Identifies the key: `sha256:` and the first 16 hexadecimal digits of a labelled digest of it. */
  readonly keyDigest: string;
  readonly signature: string;
}

/** Labelled, so that this digest of the key is used for nothing else. */
export function keyDigestOf(key: string): string {
  const digest = createHash('sha256').update(`partner-exchange-sdk pin\n${key}`).digest('hex');
  return `sha256:${digest.slice(0, keyDigestDigits)}`;
}

const keyDigestDigits = 16;

/**
 * A pin read from a file. @throws {ConfigurationError} `invalid_option`, or `invalid_scheme`
 */
export function readPin(pin: unknown): SchemePin {
  if (!isJsonObject(pin)) throw invalid('is not an object: parse the file first');
  const { scheme, fixtures } = pin;
  if (!isJsonObject(scheme)) throw invalid('has no scheme');
  const unknown = Object.keys(scheme).find((part) => !schemePartNames.some((name) => name === part));
  if (unknown !== undefined) throw invalid(`has a scheme with the unknown part "${unknown}"`);
  if (!Array.isArray(fixtures) || fixtures.length === 0)
    throw invalid('has no fixtures: nothing would be checked');
  return {
    // Sound: checkScheme refuses every value that the type does not allow.
    scheme: normalizeScheme(checkScheme(scheme as unknown as SignatureScheme)),
    fixtures: fixtures.map(readFixture),
  };
}

function readFixture(fixture: unknown, index: number): PinFixture {
  if (!isJsonObject(fixture)) throw invalid(`has a fixture ${index} that is not an object`);
  const { body, keyDigest, signature } = fixture;
  if (typeof body !== 'string') throw invalid(`has a fixture ${index} whose body is not text`);
  if (typeof signature !== 'string') throw invalid(`has a fixture ${index} whose signature is not text`);
  if (typeof keyDigest !== 'string' || !isKeyDigest(keyDigest)) {
    throw invalid(`has a fixture ${index} whose keyDigest is not "sha256:" and ${keyDigestDigits} digits`);
  }
  return { body, keyDigest, signature };
}

function isKeyDigest(text: string): boolean {
  return text.length === 'sha256:'.length + keyDigestDigits && /^sha256:[0-9a-f]+$/.test(text);
}

function invalid(what: string): ConfigurationError {
  return new ConfigurationError('invalid_option', `The pin ${what}.`);
}
