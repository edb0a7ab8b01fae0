import { isSignatureError } from '../../../errors/errors.ts';
import { isJsonObject, type JsonObject, tryParse } from '../../../internal/json.ts';
import { decodeDigest } from '../../../signature/digest.ts';
import { type Encoding, schemeParts } from '../../../signature/signature-scheme.ts';
import { decodeBody, type ParsedSignedBody, parseSignedBody } from '../../../signature/signed-body.ts';
import { type SignatureFinding, signatureFinding } from './signature-finding.ts';

/** Bounds the work of a search. */
const maxSampleBytes = 65_536;

export interface Sample extends ParsedSignedBody {
  /** The text as received. */
  readonly source: string;
  /** One encoding, or both hexadecimal ones for a digest without letters. */
  readonly encodings: readonly Encoding[];
}

/** Parses a sample, or finds its problem. Never throws. */
export function readSample(body: unknown): Sample | SignatureFinding {
  if (typeof body !== 'string' && !(body instanceof Uint8Array) && !ArrayBuffer.isView(body)) {
    return signatureFinding(
      'not-raw',
      'Not a raw body: give the text or bytes as received, not a parsed object.',
    );
  }
  if (byteLength(body) > maxSampleBytes) {
    return signatureFinding(
      'too-large',
      'Larger than 64 KiB, which bounds the search: give a smaller sample.',
    );
  }
  const source = readText(body);
  if (source === undefined) return signatureFinding('not-utf8', 'Not UTF-8 text.');
  const value = tryParse(source.replace(/^\uFEFF/, ''));
  if (value === undefined)
    return signatureFinding('not-json', 'Not JSON: give the body alone, complete, as received.');
  if (!isJsonObject(value)) {
    const twice = typeof value === 'string' && isJsonObject(tryParse(value));
    return signatureFinding(
      'not-object',
      twice
        ? 'A JSON text inside a JSON string: the body was stringified twice.'
        : 'JSON, but not an object.',
    );
  }
  const kept = bodyOfDeliveryFile(value);
  if (kept !== undefined) return readSample(kept);
  if (!Object.hasOwn(value, 'signature'))
    return signatureFinding('no-signature', 'Has no top-level signature.');
  const { signature } = value;
  if (typeof signature !== 'string') {
    return signatureFinding('unreadable-signature', `The signature is ${nameType(signature)}, not text.`);
  }
  return readClaim(source, signature);
}

/** Marks the files in which `listen` keeps deliveries; a version follows. */
export const deliveryFileFormat = 'partner-exchange-delivery/';

/** The body in a file of `listen`, which holds the whole delivery. */
function bodyOfDeliveryFile({ format, body, bodyBase64 }: JsonObject): string | Uint8Array | undefined {
  if (typeof format !== 'string' || !format.startsWith(deliveryFileFormat)) return undefined;
  if (typeof body === 'string') return body;
  return typeof bodyBase64 === 'string' ? Buffer.from(bodyBase64, 'base64') : undefined;
}

export function isUsable(sample: Sample | SignatureFinding): sample is Sample {
  return 'claimedDigest' in sample;
}

/** The encodings in which a text is a SHA-512 digest. */
export function encodingsOf(signature: string): Encoding[] {
  return schemeParts.encoding.filter((encoding) => decodeDigest(encoding, signature) !== undefined);
}

function readClaim(source: string, signature: string): Sample | SignatureFinding {
  const encodings = encodingsOf(signature);
  const [encoding] = encodings;
  if (encoding === undefined) return signatureFinding('unreadable-signature', describeUnreadable(signature));
  try {
    return { source, encodings, ...parseSignedBody(source, encoding) };
  } catch (error) {
    if (!isSignatureError(error)) throw error;
    return error.code === 'signature_duplicated'
      ? signatureFinding('duplicate-signature', 'Has more than one top-level signature.')
      : signatureFinding('not-json', 'Not JSON as a receiver reads it.');
  }
}

function byteLength(body: string | ArrayBufferView): number {
  if (typeof body !== 'string') return body.byteLength;
  // Every code unit is at least one byte, so a text that is certainly too long is not measured.
  return body.length > maxSampleBytes ? body.length : Buffer.byteLength(body);
}

function readText(body: string | ArrayBufferView): string | undefined {
  try {
    return decodeBody(
      typeof body === 'string' ? body : new Uint8Array(body.buffer, body.byteOffset, body.byteLength),
    );
  } catch {
    return undefined;
  }
}

function nameType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Describes an unreadable signature without showing it. */
function describeUnreadable({ length }: string): string {
  return `The signature has ${length} characters and is no SHA-512 digest in hex (128 of one case), base64 (88) or base64 of hex (172).`;
}
