import { keyPrefixes } from '../../../credentials/partner-credentials.ts';
import { hash } from '../../../internal/hash.ts';
import { isJsonObject, tryParse } from '../../../internal/json.ts';
import { randomBytes } from '../../../internal/options.ts';
import type { SignatureScheme } from '../../../signature/signature-scheme.ts';
import { encodingsOf } from '../detection/samples.ts';
import { normalizeScheme } from '../detection/scheme-space.ts';
import { fittingSchemes } from '../detection/search-schemes.ts';
import type { Finding } from '../finding.ts';
import { explainMismatch } from '../mismatch/explain-mismatch.ts';
import { newTally, note, speaksFor } from './evidence.ts';
import type { SchemeEvidence } from './scheme-finder.ts';

/** Signs a body with a secret, as the deployment does. */
export type SigningOracle = (request: {
  /** JSON text: pass it on as it is. */
  readonly body: string;
  /** A secret made for this call, and useless elsewhere. */
  readonly secret: string;
}) => string | Promise<string>;

/** The schemes that fit, or why none does. The key for orders is the configured one, since the oracle gets one secret. */
interface OracleResult extends SchemeEvidence {
  readonly findings: readonly Finding[];
}

/**
 * Has a deployment sign {@link probe} with a throw-away secret, so that no real key is shown. Reported: services of
 * this family have an endpoint that signs any body with any secret.
 *
 * @throws what the oracle throws
 */
export async function askOracle(
  sign: SigningOracle,
  { orderKey, keySeparator }: SignatureScheme,
): Promise<OracleResult> {
  const secret = `${keyPrefixes.partnerSecretKey}probe${Buffer.from(randomBytes(18)).toString('hex')}`;
  const credentials = { partnerSecretKey: secret };
  const answer: unknown = await sign({ body: probe, secret });
  const signed = findSignature(answer);
  const evidence = { schemes: [], signed: newTally(), openParts: ['orderKey', 'keySeparator'] } as const;
  if (signed === undefined) return { ...evidence, findings: [withoutSignature(answer)] };
  const body = `${probe.slice(0, -1)},"signature":"${signed.signature}"}`;
  // A signer that writes the body again may have signed the text that it returned.
  for (const text of [body, signed.text ?? '']) {
    const schemes = fittingSchemes(text, credentials, 'general').map((scheme) =>
      normalizeScheme({ ...scheme, orderKey, keySeparator }),
    );
    if (schemes.length === 0) continue;
    note(evidence.signed, speaksFor(''), { since: undefined, digest: hash('sha256', text, 'hex') });
    return { ...evidence, schemes, findings: [] };
  }
  return { ...evidence, findings: explainMismatch(body, { credentials, purpose: 'general' }).findings };
}

function withoutSignature(answer: unknown): Finding {
  return {
    id: 'oracle-unsigned',
    verdict: 'broken',
    what: `The oracle returned ${describe(answer)}, and no signature.`,
    advice: 'Is that the signing endpoint, and did it answer 2xx?',
  };
}

interface OracleAnswer {
  readonly signature: string;
  /** The text of a signed body. */
  readonly text?: string;
}

function findSignature(answer: unknown): OracleAnswer | undefined {
  if (isJsonObject(answer)) return readSigned(answer);
  if (typeof answer !== 'string') return undefined;
  const text = answer.trim();
  if (isSignature(text)) return { signature: text };
  const parsed = tryParse(text);
  if (typeof parsed === 'string' && isSignature(parsed)) return { signature: parsed };
  const signed = readSigned(parsed);
  return signed && { ...signed, text };
}

function readSigned(body: unknown): OracleAnswer | undefined {
  if (!isJsonObject(body) || !Object.hasOwn(body, 'signature')) return undefined;
  const { signature } = body;
  return isSignature(signature) ? { signature } : undefined;
}

function isSignature(text: unknown): text is string {
  return typeof text === 'string' && encodingsOf(text).length > 0;
}

function describe(answer: unknown): string {
  if (typeof answer === 'string')
    return answer === '' ? 'an empty text' : `${answer.length} characters of text`;
  return answer === null ? 'null' : typeof answer;
}

/**
 * A small order-like body whose signature identifies the scheme: no two known schemes sign it alike. It is a text, since
 * parsing and writing it again loses its details (`1.0`, the place of `"10"`). It has names out of order, some of them
 * integer-like; U+FF41 and U+1F511, which sort differently by code point and by code unit, at the top and nested; a
 * blank, and all else that serializers write differently; no number beyond a double, and no exponent, which Python writes
 * otherwise.
 */
export const probe =
  '{ "partner_order_id":"probe-1","10":"ten","2":"two","fiat_amount":1.0,"rate":0.5,"pair":"NGN/USDT",' +
  '"buyer":{"last_name":"Adébáyọ̀","first_name":"Zoë 🔑","phone":"","accounts":[{"number":"0123","bank":null}]},' +
  '"payment_link":null,"kyc":true,"note":"","\u{1F511}":"a=1&b=2","\uFF41":"<é|:.,>",' +
  '"meta":{"\u{1F511}":1,"\uFF41":2,"10":3,"9":4}}';
