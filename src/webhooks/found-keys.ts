import { defineCredentials } from '../credentials/define-credentials.ts';
import type { PartnerCredentials } from '../credentials/partner-credentials.ts';
import { type VerificationKey, verificationKeysOf } from '../credentials/verification-keys.ts';
import { fromWireNames, type WireNames } from '../deployment/wire-names.ts';
import { isConfigurationError, isKeyError, KeyError, SignatureError } from '../errors/errors.ts';
import { withDeadline } from '../internal/deadline.ts';
import { redactError } from '../internal/driver-error.ts';
import type { JsonObject } from '../internal/json.ts';
import { warn } from '../internal/warn.ts';
import type { SignatureScheme } from '../signature/signature-scheme.ts';
import type { UnverifiedBody } from '../signature/verify-body.ts';

/** The request that brought a body. */
export interface DeliveryRequest {
  /** Path and query, or the whole URL. Only a `credentials` function reads it. */
  readonly url?: string | undefined;
  /**
   * By name, in any case. `traceparent`, `content-encoding` and `content-type` are read, and the headers that a
   * `credentials` function reads.
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
  /** By lower-case name. Absent if they are not known. */
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

interface FindOptions {
  readonly scheme: SignatureScheme;
  readonly wireNames: WireNames;
  readonly timeoutMs?: number | undefined;
}

type FindKeys = (body: UnverifiedBody, request: DeliveryRequest) => Promise<readonly VerificationKey[]>;

/**
 * The keys that a function of the user finds for each delivery: rejects with a SignatureError if there are none, with a
 * KeyError if the function fails.
 */
export function foundKeys(
  find: FindCredentials,
  { scheme, wireNames, timeoutMs = 5_000 }: FindOptions,
): FindKeys {
  const warned = new Set<string>();

  /** One warning for each kind of failure: a database that is down fails for every delivery. */
  function unavailable(kind: string, what: string, cause?: Error): KeyError {
    const remedy = 'Correct it: deliveries are answered 503 until it returns credentials.';
    const error = new KeyError('keys_unavailable', `The credentials function of createWebhooks ${what}`, {
      remedy,
      cause,
    });
    if (!warned.has(kind)) warn(error.message);
    warned.add(kind);
    return error;
  }

  async function call(claimed: JsonObject, { url, headers }: DeliveryRequest): Promise<FoundCredentials> {
    const delivery = { url, headers: headers && plainHeaders(headers), claimed };
    const tooLate = () => new Error(`it did not settle within ${timeoutMs} ms`);
    try {
      return await withDeadline({ ms: timeoutMs, tooLate }, async (signal) => find(delivery, { signal }));
    } catch (error) {
      const cause = redactError(error, []);
      throw unavailable('failed', `failed: ${cause?.message ?? 'the cause is unknown'}`, cause);
    }
  }

  function keysOf(found: FoundCredentials): readonly VerificationKey[] {
    const sets = Array.isArray(found) ? found : [found ?? []].flat();
    try {
      return sets.length === 0 ? [] : verificationKeysOf(Array.from(sets, readSet), scheme);
    } catch (error) {
      throw describeUnusable(error);
    }
  }

  /** A copy, since reading a set twice could give two sets. */
  function readSet(set: PartnerCredentials | null | undefined): PartnerCredentials {
    const read = set === null || set === undefined ? undefined : defineCredentials(set);
    // Otherwise a delivery of one partner could count as a repetition of another's.
    if (read === undefined || (read.partnerId === undefined && read.partnerCode === undefined)) {
      throw unavailable('nameless', 'returned credentials without partnerId or partnerCode.');
    }
    return read;
  }

  function describeUnusable(error: unknown): KeyError {
    if (isKeyError(error)) return error;
    const cause = redactError(error, []);
    if (isConfigurationError(error)) {
      const what = `returned credentials that cannot verify: ${cause?.message}`;
      return unavailable('unusable', what, cause);
    }
    const reason = cause?.message ?? 'the cause is unknown';
    return unavailable('unreadable', `returned credentials that cannot be read: ${reason}`, cause);
  }

  return async (body, request) => {
    const keys = keysOf(await call(fromWireNames(copyOf(body), wireNames), request));
    if (keys.length === 0) throw unknownPartner();
    return keys;
  };
}

/** The function may keep it and change it, and the body is what the handler gets. */
function copyOf({ json, value }: UnverifiedBody): JsonObject {
  // Sound: the text is that of an object, without its signature.
  return { ...(JSON.parse(json) as JsonObject), signature: value.signature ?? null };
}

function unknownPartner(): SignatureError {
  return new SignatureError(
    'signature_mismatch',
    'The credentials function of createWebhooks knows no partner for this request.',
    {
      remedy: 'If the service sent it, look why the function returns no credentials for it.',
      assumptions: ['signature-key'],
    },
  );
}

/** @param name in lower case */
export function headerOf({ headers }: DeliveryRequest, name: string): string | undefined {
  return headers && plainHeaders(headers)[name];
}

function plainHeaders(headers: NonNullable<DeliveryRequest['headers']>): Record<string, string> {
  const entries = typeof headers.entries === 'function' ? [...headers.entries()] : Object.entries(headers);
  const given = entries.filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name.toLowerCase(), [value].flat().join(', ')]));
}
