import type { SignatureErrorCode } from '../errors/signature-error.ts';
import type { RequestRefusalCode } from './outcome.ts';

/** Why a request or its body was refused. */
export type RefusalCode = SignatureErrorCode | RequestRefusalCode;

const explain =
  'Capture one body with the onRefused option and run explainMismatch(rawBody, { credentials, scheme: ' +
  "deployment.signature }) from 'partner-exchange-sdk/diagnostics' on a developer's machine.";
const detect =
  'Capture one body with the onRefused option and run detectScheme(rawBody, { partnerSecretKey, merchantSecretKey, ' +
  "partnerPublicKey }) from 'partner-exchange-sdk/diagnostics' on a developer's machine.";
const changed = 'If it came from the service, something on the way has changed it (a proxy, a body parser).';

/** For each code what was wrong, and what to do if the request was a real one. */
const warnings = {
  signature_mismatch: [
    'the signature does not match',
    `If it came from the service, the keys or the signature scheme are wrong, or the body was changed on the way. ${explain} Where the scheme is not known yet, detectScheme finds it.`,
  ],
  signature_malformed: [
    "the signature is not a SHA-512 digest in the scheme's encoding",
    `If it came from the service, the encoding of the signature scheme is wrong. ${detect}`,
  ],
  signature_missing: [
    'the body has no top-level signature member',
    `If it came from the service, it signs in a way that this package does not know. ${explain}`,
  ],
  signature_duplicated: ['the body has more than one top-level signature member', `${changed} ${explain}`],
  body_not_json: ['the body is not JSON', `${changed} ${explain}`],
  body_not_object: ['the body is JSON, but no object', `${changed} ${explain}`],
  body_not_utf8: ['the body is not UTF-8', `${changed} ${explain}`],
  body_too_deep: [
    'the body is nested too deeply for the signature scheme',
    'No event of the contract is. A scheme with the serialization as-sent has no such limit.',
  ],
  body_too_large: [
    'the body is larger than maxBodyBytes',
    'If it came from the service, raise maxBodyBytes in createWebhooks.',
  ],
  body_timeout: [
    'the body did not arrive within bodyTimeoutMs',
    'If it came from the service, raise bodyTimeoutMs in createWebhooks, or look for what holds the body back.',
  ],
  body_unreadable: [
    'the body broke off',
    'If it came from the service, look at its time limit for a callback and at the proxies on the way.',
  ],
  method_not_allowed: [
    'it was no POST',
    'Events are posted. A health check, or somebody with a browser, does better at an address of its own.',
  ],
  unsupported_media_type: [
    'its content type is not JSON, or its body is compressed',
    'If it came from the service, have a proxy or the framework set content-type: application/json and undo content-encoding.',
  ],
  raw_body_required: ['its body was parsed before the signature could be checked', ''],
} as const satisfies Record<RefusalCode, readonly [found: string, remedy: string]>;

/** What the operator is told of the first refusal with a code. Nothing of the request is in it. */
export function refusalWarning(code: RefusalCode, advice?: string): string {
  const [found, remedy] = warnings[code];
  return `A webhook request was refused (${code}): ${found}. ${advice ?? remedy} Further ones are not warned of; onDelivery reports each.`;
}
