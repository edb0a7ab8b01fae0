import { keyPrefixes } from '../../../credentials/partner-credentials.ts';
import { isJsonObject, tryParse } from '../../../internal/json.ts';
import { type RandomBytes, randomBytes } from '../../../internal/options.ts';
import { detectScheme } from './detect-scheme.ts';
import type { SchemeDetection } from './detection.ts';
import { encodingsOf } from './samples.ts';

/** Signs a body with a secret, as the deployment does. */
export type SigningOracle = (request: {
  /** JSON text: pass it on as it is. */
  readonly body: string;
  /** A secret made for this call, and useless elsewhere. */
  readonly secret: string;
}) => string | Promise<string>;

/** Options of {@link detectFromOracle}. */
export interface OracleOptions {
  /** Random bytes for the secret. @default crypto.getRandomValues */
  random?: RandomBytes | undefined;
}

/**
 * - `signature`: it returned a signature (text around it, such as quotes, was removed).
 * - `signed-body`: it returned a body with a signature.
 * - `threw`: it threw or rejected.
 * - `no-signature`: its result has no SHA-512 digest.
 */
export type OracleReply = 'signature' | 'signed-body' | 'threw' | 'no-signature';

/** The scheme of an endpoint that signs. */
export interface OracleDetection extends SchemeDetection {
  /** The kind of the endpoint's result. */
  readonly reply: OracleReply;
}

/**
 * Finds out how a deployment signs by having it sign {@link probeBody} with a throw-away secret, so that no real key
 * is shown. Reported: services of this family have an endpoint that signs any body with any secret.
 *
 * The result does not determine the key for orders (`orderKey`), since the oracle gets one secret.
 *
 * @param sign never repeated; set a time limit in it if it uses the network
 * @example
 * ```ts
 * const { verdict, message, survivors } = await detectFromOracle(async ({ body, secret }) => {
 *   const reply = await fetch(signingUrl, { method: 'POST', body: `${body.slice(0, -1)},"secret":"${secret}"}` });
 *   return reply.text();
 * });
 * ```
 */
export async function detectFromOracle(
  sign: SigningOracle,
  options: OracleOptions = {},
): Promise<OracleDetection> {
  const body = probeBody();
  const random = options.random ?? randomBytes;
  const secret = `${keyPrefixes.partnerSecretKey}probe${Buffer.from(random(18)).toString('hex')}`;
  let answer: unknown;
  try {
    answer = await sign({ body, secret });
  } catch (error) {
    return unusable('threw', whyItThrew(error));
  }
  const found = findSignature(answer);
  if (found === undefined) {
    return unusable(
      'no-signature',
      `The signing function returned ${describe(answer)}, no signature: is that the signing endpoint, and did it answer 2xx?`,
    );
  }
  const { reply, signature, text } = found;
  const detect = (sample: string) =>
    detectScheme(sample, { partnerSecretKey: secret }, { purpose: 'general' });
  const detection = detect(`${body.slice(0, -1)},"signature":"${signature}"}`);
  // A signer that writes the body again may have signed the text that it returned.
  if (detection.verdict !== 'none' || text === undefined) return { ...detection, reply };
  const second = detect(text);
  return { ...(second.survivors.length > 0 ? second : detection), reply };
}

interface FoundSignature {
  readonly reply: 'signature' | 'signed-body';
  readonly signature: string;
  /** The text of a signed body. */
  readonly text?: string;
}

function findSignature(answer: unknown): FoundSignature | undefined {
  if (isJsonObject(answer)) return readSigned(answer);
  if (typeof answer !== 'string') return undefined;
  const text = answer.trim();
  if (isSignature(text)) return { reply: 'signature', signature: text };
  const parsed = tryParse(text);
  if (typeof parsed === 'string' && isSignature(parsed)) return { reply: 'signature', signature: parsed };
  const signed = readSigned(parsed);
  return signed && { ...signed, text };
}

function readSigned(body: unknown): FoundSignature | undefined {
  if (!isJsonObject(body) || !Object.hasOwn(body, 'signature')) return undefined;
  const { signature } = body;
  return isSignature(signature) ? { reply: 'signed-body', signature } : undefined;
}

function isSignature(text: unknown): text is string {
  return typeof text === 'string' && encodingsOf(text).length > 0;
}

/** Shows only names and codes, because a message may hold the address and the body. */
function whyItThrew(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const [code] = [cause, error].flatMap((failure) =>
    typeof failure === 'object' && failure !== null && 'code' in failure && typeof failure.code === 'string'
      ? failure.code
      : [],
  );
  const name = error instanceof Error ? error.name : typeof error;
  // The system, undici and Bun have such codes. Codes that begin with ERR_ are Node's, and say nothing of the network.
  if (code !== undefined && /^(?:E(?!RR_)[A-Z_]{3,20}|UND_ERR_[A-Z_]{1,40}|ConnectionRefused)$/.test(code)) {
    return `The signing endpoint was not reached (${code}): check its address, and whether it is up.`;
  }
  return `The signing function threw (${name}): call it by itself to see why.`;
}

function describe(answer: unknown): string {
  if (typeof answer === 'string')
    return answer === '' ? 'an empty text' : `${answer.length} characters of text`;
  return answer === null ? 'null' : typeof answer;
}

function unusable(reply: OracleReply, message: string): OracleDetection {
  return { verdict: 'unusable', message, survivors: [], undecided: [], nearMisses: [], samples: [], reply };
}

/**
 * A small order-like body whose signature identifies the scheme: no two known schemes sign it alike. Have a
 * deployment sign it, or send it yourself and see which signature is accepted.
 *
 * It is a text, since parsing and writing it again loses its details (`1.0`, the place of `"10"`).
 */
export function probeBody(): string {
  return probe;
}

// Names out of order, some of them integer-like; U+FF41 and U+1F511, which sort differently by code point and by code
// unit, at the top and nested; a blank, and all else that serializers write differently; no number beyond a double.
const probe =
  '{ "partner_order_id":"probe-1","10":"ten","2":"two","fiat_amount":1.0,"rate":1e-7,"pair":"NGN/USDT",' +
  '"buyer":{"last_name":"Adébáyọ̀","first_name":"Zoë 🔑","phone":"","accounts":[{"number":"0123","bank":null}]},' +
  '"payment_link":null,"kyc":true,"note":"","\u{1F511}":"a=1&b=2","\uFF41":"<é|:.,>",' +
  '"meta":{"\u{1F511}":1,"\uFF41":2,"10":3,"9":4}}';
