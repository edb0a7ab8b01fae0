import { createHash, createHmac } from 'node:crypto';
import {
  allFormRules,
  allKeyRules,
  allTextRules,
  composeScheme,
  makeKey,
} from '../../../src/devtools/diagnostics/detection/scheme-space.ts';
import { textUnder } from '../../../src/devtools/diagnostics/detection/search-schemes.ts';
import { type SignatureScheme, schemeParts } from '../../../src/signature/signature-scheme.ts';
import { buyInitBody } from '../../support/bodies.ts';

/** Three that differ in every place. */
export const secrets = {
  partnerSecretKey: 'sk_partner_4f8a1c6e9b2d7035',
  merchantSecretKey: 'sk_merchant_e17b3d905c2a8f64',
  partnerPublicKey: 'pk_partner_92c5d0a7f3b8416e',
};

export const orderKey = secrets.merchantSecretKey + secrets.partnerSecretKey;

/** Every scheme that is tried, for orders. */
export function* allSchemes(): Generator<SignatureScheme> {
  const texts = allTextRules();
  for (const key of allKeyRules('order')) {
    for (const form of allFormRules()) {
      for (const text of texts) {
        for (const encoding of schemeParts.encoding) yield composeScheme({ form, text, key, encoding });
      }
    }
  }
}

/** An event without its signature, as a JavaScript sender writes it. */
export const eventText = (() => {
  const { signature: _, ...event } = buyInitBody();
  return JSON.stringify(event);
})();

/** A body's text with a signature as its last member. */
export function withSignature(text: string, signature: string): string {
  return `${text.slice(0, -1)}${text === '{}' ? '' : ','}"signature":${JSON.stringify(signature)}}`;
}

/** A body signed with the key over another text than its own; both straight from node:crypto. */
export function signedOver(text: string, signed: string, key = orderKey): string {
  return withSignature(text, createHmac('sha512', key).update(signed).digest('hex'));
}

/** A body signed under a scheme with the key that the scheme makes of {@link secrets}. */
export function signedUnder(
  scheme: SignatureScheme,
  { text = eventText, purpose = 'order' }: { text?: string; purpose?: 'order' | 'general' } = {},
): string {
  const key = makeKey(secrets, scheme, purpose);
  const canonical = textUnder(scheme, { json: text, value: JSON.parse(text) });
  if (key === undefined || canonical === undefined) throw new Error('The scheme cannot sign this.');
  return withSignature(text, encode(scheme, digest(scheme, key, canonical)));
}

/** A compact text without commas and colons in its strings that could be taken for others, as json.dumps spaces it. */
export function pythonStyle(text: string): string {
  return text
    .replace('{ ', '{')
    .replaceAll('":', '": ')
    .replaceAll(/,(?=["{])/g, ', ')
    .replaceAll(/[^\0-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function digest({ construction, separator = '' }: SignatureScheme, key: string, text: string): Buffer {
  const hash = (input: string) => createHash('sha512').update(input).digest();
  switch (construction) {
    case 'hmac':
      return createHmac('sha512', key).update(text).digest();
    case 'hash-suffix':
      return hash(text + separator + key);
    case 'hash-prefix':
      return hash(key + separator + text);
  }
}

function encode({ encoding }: SignatureScheme, bytes: Buffer): string {
  if (encoding === 'hex-upper') return bytes.toString('hex').toUpperCase();
  if (encoding === 'base64-hex') return Buffer.from(bytes.toString('hex')).toString('base64');
  return bytes.toString(encoding);
}
