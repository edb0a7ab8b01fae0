import { ConfigurationError } from '../errors/configuration-error.ts';
import { SignatureError } from '../errors/signature-error.ts';

// The byte order mark is kept, so that JSON.parse refuses it: nobody signs one.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The text of a raw body.
 *
 * Text that is not well-formed Unicode is refused like bytes that are not UTF-8: two such texts could have the same
 * digest.
 */
export function decodeBody(body: string | Uint8Array): string {
  if (typeof body === 'string') {
    if (!body.isWellFormed()) throw notUtf8();
    return body;
  }
  // Not by instanceof: test runners have several realms.
  if (!ArrayBuffer.isView(body)) {
    throw new ConfigurationError(
      'raw_body_required',
      'A signature is checked over the raw body: pass the text or bytes as received, not a parsed object.',
    );
  }
  try {
    return decoder.decode(body);
  } catch {
    throw notUtf8();
  }
}

function notUtf8(): SignatureError {
  return new SignatureError('body_not_utf8', 'The body is not UTF-8 text.');
}
