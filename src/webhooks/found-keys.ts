import { defineCredentials } from '../credentials/define-credentials.ts';
import { invalid, type PartnerCredentials } from '../credentials/partner-credentials.ts';
import { type VerificationKey, verificationKeysOf } from '../credentials/verification-keys.ts';
import { fromWireNames, type WireNames } from '../deployment/wire-names.ts';
import { KeyError, SignatureError } from '../errors/errors.ts';
import { withDeadline } from '../internal/deadline.ts';
import { redactError } from '../internal/driver-error.ts';
import type { JsonObject } from '../internal/json.ts';
import type { SignatureScheme } from '../signature/signature-scheme.ts';
import type { UnverifiedBody } from '../signature/verify-body.ts';

/** The request that brought a body. */
export interface DeliveryRequest {
  /** Path and query, or the whole URL. Only a `credentials` function reads it. */
  readonly url?: string | undefined;
  /**
   * Headers by name, in any case. `traceparent` is read, and the headers that a `credentials` function reads.
   */
  readonly headers?: Headers | Readonly<Record<string, string | readonly string[] | undefined>> | undefined;
}

/** A delivery before its signature is checked. Anybody can write anything into it. */
export interface UnverifiedDelivery {
  /**
   * Where it was posted, as the server has it: the whole URL from `webhooks.fetch`, path and query from
   * `webhooks.node` and `lambdaHandler`. Absent if it is not known.
   */
  readonly url?: string | undefined;
  /** Headers by lower-case name. Absent if they are not known. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The parsed body under the published names: a copy, so changing it changes nothing for the handler. */
  readonly claimed: JsonObject;
}

/**
 * Returns the credentials that may have signed a delivery, each with its `partnerId` or `partnerCode`; `undefined` or an
 * empty list if there are none. All are tried; the signal is aborted after 5 seconds.
 */
export type FindCredentials = (
  delivery: UnverifiedDelivery,
  options: { readonly signal: AbortSignal },
) => FoundCredentials | Promise<FoundCredentials>;

/** @inline */
type FoundCredentials = PartnerCredentials | readonly PartnerCredentials[] | null | undefined;

const timeoutMs = 5_000;
const tooLate = () => new Error(`it did not settle within ${timeoutMs} ms`);

/**
 * Finds the keys for each delivery by a function of the user. Rejects with a SignatureError if there are none, with a
 * KeyError if the function fails or returns credentials that cannot be used.
 */
export function keyFinder(find: FindCredentials, scheme: SignatureScheme, wireNames: WireNames) {
  return async (
    body: UnverifiedBody,
    { url, headers }: DeliveryRequest,
  ): Promise<readonly VerificationKey[]> => {
    const claimed = fromWireNames(copyOf(body), wireNames);
    const delivery = { url, headers: headers && plainHeaders(headers), claimed };
    let keys: readonly VerificationKey[] = [];
    try {
      const found = await withDeadline({ ms: timeoutMs, tooLate }, async (signal) =>
        find(delivery, { signal }),
      );
      const sets = Array.from([found ?? []].flat(), readSet);
      if (sets.length > 0) keys = verificationKeysOf(sets, scheme);
    } catch (error) {
      throw unusable(error);
    }
    if (keys.length === 0) throw unknownPartner();
    return keys;
  };
}

/** A copy, since reading a set twice could give two sets. */
function readSet(set: PartnerCredentials): PartnerCredentials {
  const read = defineCredentials(set);
  // Otherwise a delivery of one partner could count as a repetition of another's.
  if (read.partnerId === undefined && read.partnerCode === undefined) {
    throw invalid('They are without partnerId or partnerCode.');
  }
  return read;
}

/** The function may keep it and change it, and the body is what the handler gets. */
function copyOf({ json, value }: UnverifiedBody): JsonObject {
  // Sound: the text is that of an object, without its signature.
  return { ...(JSON.parse(json) as JsonObject), signature: value.signature ?? null };
}

function unusable(error: unknown): KeyError {
  const cause = redactError(error, []);
  const what = `The credentials function of createWebhooks returned no usable credentials: ${cause?.message ?? 'the cause is unknown'}`;
  const remedy = 'Correct it: deliveries are answered 503 until it returns credentials.';
  return new KeyError('keys_unavailable', what, { remedy, cause });
}

function unknownPartner(): SignatureError {
  const what = 'The credentials function of createWebhooks knows no partner for this request.';
  const remedy = 'If the service sent it, look why the function returns no credentials for it.';
  return new SignatureError('signature_mismatch', what, { remedy, assumptions: ['signature-key'] });
}

/** @param name in lower case, as the request has it */
export function headerOf({ headers = {} }: DeliveryRequest, name: string): string | undefined {
  if (isHeaders(headers)) return headers.get(name) ?? undefined;
  const value = headers[name];
  return typeof value === 'object' ? value.join(', ') : value;
}

/** The headers by their names in lower case. */
export function plainHeaders(headers: RequestHeaders): Record<string, string> {
  const entries = isHeaders(headers) ? [...headers.entries()] : Object.entries(headers);
  const present = entries.filter(([, value]) => value !== undefined);
  return Object.fromEntries(present.map(([name, value]) => [name.toLowerCase(), [value].flat().join(', ')]));
}

type RequestHeaders = NonNullable<DeliveryRequest['headers']>;

/** Not by instanceof: frameworks have classes of their own. */
function isHeaders(headers: RequestHeaders): headers is Headers {
  return typeof headers.get === 'function';
}
