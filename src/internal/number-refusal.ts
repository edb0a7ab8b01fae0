import type { RequestError } from '../errors/errors.ts';
import { isJsonObject } from './json.ts';

const numberStatuses: readonly (number | undefined)[] = [400, 410, 422];

/**
 * Whether refusing a message is about its phone number (ledger: `otp-refusal`). A 404 is about the address of the
 * request, unless its JSON names the number: any web server answers 404 under a wrong base URL. A 2xx that denies the
 * message may have any reason, so its JSON has to name the number too.
 */
export function refusesNumber(error: RequestError): boolean {
  const mustName = error.status === 404 || error.code === 'reply_not_accepted';
  return numberStatuses.includes(error.status) || (mustName && namesNumber(error));
}

/** Whether the request went to a wrong address: then nothing is known about the number. */
export function missesAddress(error: RequestError): boolean {
  return error.status === 404 && !namesNumber(error);
}

/** The error cites this where the reply names the recipient. A page's words may be about anything. */
function namesNumber({ assumptions, body }: RequestError): boolean {
  return assumptions.includes('otp-refusal') && isJsonObject(body);
}
