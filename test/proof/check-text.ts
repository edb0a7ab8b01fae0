import { isUtf8 } from 'node:buffer';
import { createHmac } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { SignatureError, type SignatureErrorCode } from '../../src/errors/errors.ts';
import { findElement, findMembers } from '../../src/internal/json-scanner.ts';
import { type LiteralNode, readLiteralTree } from '../../src/internal/json-tree.ts';
import { type Encoding, type SignatureScheme, schemeParts } from '../../src/signature/signature-scheme.ts';
import { parseSignedBody } from '../../src/signature/signed-body.ts';
import { verifyBody } from '../../src/signature/verify-body.ts';
import { type ReferenceText, readReference, signaturesIn, without } from './reference-reader.ts';
import { hasUnwritableNumber, valueSerializations } from './scheme-vectors.ts';

const key = 'sk_merchant_fuzz1sk_partner_fuzz1';

/** Every construction, serialization and encoding. */
export const plainSchemes: readonly SignatureScheme[] = schemeParts.construction.flatMap((construction) =>
  schemeParts.serialization.flatMap((serialization) =>
    schemeParts.encoding.map((encoding) => Object.freeze({ construction, serialization, encoding })),
  ),
);

/** What a check found: the code that the body has to be refused with, and what went otherwise, if anything. */
export interface Finding {
  readonly expected: SignatureErrorCode;
  readonly defect: string | undefined;
  /**
   * The engine's own JSON.parse reads a text wrongly here, so that what went otherwise is not our doing. V8 12.8 and
   * later take a name with an escape for one they have met that ends in a backslash (nodejs/node#63785).
   */
  readonly misread: boolean;
}

/**
 * Compares all that reads a body (verifyBody, parseSignedBody, the scanner, the literal tree) with JSON.parse and with the
 * reference reader. No text that comes here is rightly signed; it is signed here to see that it then verifies.
 */
export function checkText(text: string, scheme: SignatureScheme): Finding {
  const { core } = unpadded(text);
  const reference = readReference(core);
  const plain = expectedCode(text, scheme.encoding, reference);
  const expected =
    plain === 'signature_mismatch' && reference ? (unsignable(reference, scheme) ?? plain) : plain;
  const defect = defectIn(text, scheme, { reference, expected });
  const misread = defect !== undefined && reference !== undefined && isMisread(core, reference);
  return { expected, defect: misread ? undefined : defect, misread };
}

/** What stands around a body says nothing: one byte order mark, and the white space of JSON. */
function unpadded(text: string): { before: string; core: string; behind: string } {
  const [before = ''] = /^\uFEFF?[ \t\r\n]*/.exec(text) ?? [];
  const [core = ''] = /^(?:.*[^ \t\r\n])?/s.exec(text.slice(before.length)) ?? [];
  return { before, core, behind: text.slice(before.length + core.length) };
}

/** Why a body with one well-formed signature has no text that the scheme could sign. */
function unsignable(reference: ReferenceText, scheme: SignatureScheme): SignatureErrorCode | undefined {
  if (hasHalfPair(reference, scheme)) return 'body_not_utf8';
  const signsValue = valueSerializations.includes(scheme.serialization);
  return signsValue && hasUnwritableNumber(reference.value) ? 'body_ambiguous' : undefined;
}

/** Whether what is joined, unquoted, holds half of a surrogate pair: it cannot be signed as UTF-8 then. */
function hasHalfPair({ value }: ReferenceText, { serialization }: SignatureScheme): boolean {
  const joined = serialization === 'query' || serialization.startsWith('values');
  if (!joined || typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([name, member]) =>
      (serialization === 'query' && !name.isWellFormed()) ||
      (typeof member === 'string' && !member.isWellFormed()),
  );
}

function defectIn(
  text: string,
  scheme: SignatureScheme,
  { reference, expected }: { reference: ReferenceText | undefined; expected: SignatureErrorCode },
): string | undefined {
  const { core } = unpadded(text);
  try {
    return (
      checkParser(core, reference) ??
      checkRefusal(text, scheme, expected) ??
      (reference ? checkReading(core, reference) : checkEnding(text)) ??
      (reference && (expected === 'signature_mismatch' || expected === 'body_ambiguous')
        ? checkParts(text, scheme.encoding, reference)
        : undefined)
    );
  } catch (error) {
    return `a reader throws ${String(error)}`;
  }
}

/** JSON.parse and the reference reader are each other's check. */
function checkParser(text: string, reference: ReferenceText | undefined): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (reference === undefined) return 'JSON.parse accepts what the reference reader refuses';
    return isDeepStrictEqual(value, reference.value) ? undefined : 'JSON.parse reads another value';
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return reference && 'JSON.parse refuses what the reference reader accepts';
  }
}

/** Whether JSON.parse is wrong now, about the text or about what is left of it without a signature. */
function isMisread(text: string, reference: ReferenceText): boolean {
  const texts = [text, ...signaturesIn(reference).map((member) => without(text, reference, member))];
  return texts.some((one) => {
    const read = readReference(one);
    return read !== undefined && !isDeepStrictEqual(JSON.parse(one), read.value);
  });
}

/** The same for bytes that may be anything. */
export function checkBytes(bytes: Uint8Array, scheme: SignatureScheme): Finding {
  const text = Buffer.from(bytes).toString('utf8');
  const finding = isUtf8(bytes) ? checkText(text, scheme) : undefined;
  const expected = finding?.expected ?? 'body_not_utf8';
  if (finding?.misread) return finding;
  return { expected, defect: finding?.defect ?? checkRefusal(bytes, scheme, expected), misread: false };
}

function expectedCode(
  text: string,
  encoding: Encoding,
  reference: ReferenceText | undefined,
): SignatureErrorCode {
  if (!text.isWellFormed()) return 'body_not_utf8';
  if (reference === undefined) return 'body_not_json';
  if (reference.root !== 'object') return 'body_not_object';
  const signatures = signaturesIn(reference);
  const last = signatures.at(-1);
  if (last === undefined) return 'signature_missing';
  if (!isDigest(last.value, encoding)) return 'signature_malformed';
  return signatures.length > 1 ? 'signature_duplicated' : 'signature_mismatch';
}

const patterns: Readonly<Record<Encoding, RegExp>> = {
  hex: /^[0-9a-f]{128}$/,
  'hex-upper': /^[0-9A-F]{128}$/,
  base64: /^[A-Za-z0-9+/]{85}[AQgw]==$/,
  'base64-hex': /^[A-Za-z0-9+/]{170}[AEIMQUYcgkosw048]=$/,
};

function isDigest(signature: unknown, encoding: Encoding): boolean {
  if (typeof signature !== 'string' || !patterns[encoding].test(signature)) return false;
  return encoding !== 'base64-hex' || patterns.hex.test(atob(signature));
}

function checkRefusal(
  body: string | Uint8Array,
  scheme: SignatureScheme,
  expected: SignatureErrorCode,
): string | undefined {
  try {
    verifyBody(body, { key, scheme });
    return 'verifyBody accepts it';
  } catch (error) {
    if (!(error instanceof SignatureError)) return `verifyBody throws ${String(error)}`;
    return error.code === expected ? undefined : `verifyBody says ${error.code}, not ${expected}`;
  }
}

function checkReading(text: string, reference: ReferenceText): string | undefined {
  if (reference.root === 'object') {
    const spans = signaturesIn(reference).map(({ start, valueStart, end }) => ({
      start,
      value: { start: valueStart, end },
    }));
    if (!isDeepStrictEqual(findMembers(text, 'signature'), spans)) return 'findMembers finds others';
  }
  const { value } = reference;
  if (Array.isArray(value)) {
    for (let index = 0; index <= value.length; index++) {
      const span = findElement(text, index);
      const found = span && readReference(text.slice(span.start, span.end))?.value;
      if (!isDeepStrictEqual(found, value[index])) return `findElement finds another [${index}]`;
    }
  }
  if (!isDeepStrictEqual(parsedFrom(readLiteralTree(text)), value))
    return 'readLiteralTree reads another value';
  return undefined;
}

function parsedFrom(node: LiteralNode): unknown {
  switch (node.kind) {
    case 'literal':
      return JSON.parse(node.text);
    case 'text':
      return node.text;
    case 'array':
      return node.elements.map(parsedFrom);
    case 'object':
      return Object.fromEntries(node.members.map(([name, member]) => [name, parsedFrom(member)]));
  }
}

/** Of a text that is not JSON they may say anything, but they say it. */
function checkEnding(text: string): undefined {
  findMembers(text, 'signature');
  findElement(text, 2);
}

function checkParts(text: string, encoding: Encoding, reference: ReferenceText): string | undefined {
  const [member] = signaturesIn(reference);
  if (member === undefined) return 'there is no signature';
  const { before, core, behind } = unpadded(text);
  const unsignedText = without(core, reference, member);
  const parts = parseSignedBody(text, encoding);
  if (parts.json !== unsignedText) return `parseSignedBody leaves ${JSON.stringify(parts.json)}`;
  if (!isDeepStrictEqual(parts.value, reference.value)) return 'parseSignedBody parses another value';

  try {
    for (const signedText of [unsignedText, before + unsignedText + behind]) {
      const right = createHmac('sha512', key).update(signedText).digest('hex');
      const signed = `${core.slice(0, member.valueStart)}"${right}"${core.slice(member.end)}`;
      const verified = verifyBody(before + signed + behind, { key });
      if (verified.text !== signedText) return 'verifyBody tells another text once it is rightly signed';
      if (!isDeepStrictEqual(verified.value, readReference(signed)?.value))
        return 'verifyBody returns another value';
    }
    return undefined;
  } catch (error) {
    return `verifyBody refuses it once it is rightly signed: ${String(error)}`;
  }
}
