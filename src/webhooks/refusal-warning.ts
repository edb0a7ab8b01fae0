import type { SignatureError, SignatureErrorCode } from '../errors/signature-error.ts';
import type { RequestRefusalCode } from './outcome.ts';

/** Why a request or its body was refused. */
export type RefusalCode = SignatureErrorCode | RequestRefusalCode;

/** What was wrong with a refused request, and what to do if it came from the service. */
const requestAdvice: Readonly<Record<RequestRefusalCode, string>> = {
  method_not_allowed: 'It was not a POST. Give health checks an address of their own.',
  unsupported_media_type:
    'Its content type is not JSON, or it is compressed: have a proxy set content-type: application/json and undo content-encoding.',
  body_too_large:
    'The body is larger than maxBodyBytes: raise maxBodyBytes if the service sends such bodies.',
  body_timeout: 'The body did not arrive within bodyTimeoutMs: look for what holds it back.',
  body_unreadable: 'The caller broke off before its body was whole: look at the time limits on the way.',
  raw_body_required: 'The body was parsed before its signature could be checked.',
};

/** The warning for the first request refused with a code. It holds nothing of the request. */
export function requestWarning(code: RequestRefusalCode, remedy?: string): string {
  return warningText(code, remedy === undefined ? requestAdvice[code] : `${requestAdvice[code]} ${remedy}`);
}

/** The same for a body that could not be verified. The error's message holds nothing of the body. */
export function bodyWarning({ code, message }: SignatureError): string {
  return warningText(
    code,
    `${message} If it came from the service, the signature scheme or the keys are wrong, or something on the way ` +
      'changed it: capture the body with the onRefused option, and on your own machine run explainMismatch(rawBody, ' +
      '{ credentials, scheme: deployment.signature }), or where the scheme is not known yet detectScheme(rawBody, ' +
      "{ partnerSecretKey, merchantSecretKey, partnerPublicKey }), both from 'partner-exchange-sdk/diagnostics'.",
  );
}

/** The warning for the first delivery whose key was not searched for. */
export function unverifiedWarning(): string {
  return (
    'A webhook delivery was answered 503 (key_search_limited). Its key has to be searched for among all of them, and ' +
    'keySearch allows no more of that now: it is one of many forged ones, or its merchant is new. If there are always ' +
    'some, name the keys after what the events say (partnerId, partnerCode, and the currency in merchantSecretKeys), ' +
    'or raise keySearch.keysPerSecond. Further ones are reported to onDelivery alone.'
  );
}

function warningText(code: RefusalCode, advice: string): string {
  return `A webhook request was refused (${code}). ${advice} Further ones are reported to onDelivery alone.`;
}
