import { isJsonObject } from '../json/json-value.ts';
import { checkScheme, type SignatureScheme, schemePartNames } from '../signature/signature-scheme.ts';
import { invalidEnvironment } from './invalid-environment.ts';

/**
 * Reads a signature scheme from its JSON, or from the JSON of a pin made by `pinScheme`. It does not check the pin,
 * since that needs the keys: run `checkPin` in a test.
 *
 * @throws {ConfigurationError} without the text in its message
 */
export function readScheme(text: string): SignatureScheme {
  const value = parse(text);
  const scheme = isJsonObject(value) && 'scheme' in value ? value.scheme : value;
  if (!isJsonObject(scheme)) throw invalidEnvironment('must be a scheme, or a pin made by pinScheme.');
  if (Object.keys(scheme).some((part) => !schemePartNames.some((name) => name === part))) {
    throw invalidEnvironment(
      `is a scheme with an unknown part: its parts are ${schemePartNames.join(', ')}.`,
    );
  }
  // Sound: checkScheme refuses every value that the type does not allow.
  return checkScheme(scheme as unknown as SignatureScheme);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // JSON.parse's error is not kept as the cause: it quotes the text.
    throw invalidEnvironment('is not JSON.');
  }
}
