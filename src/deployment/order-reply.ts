import { isJsonObject } from '../internal/json.ts';

/** A 2xx reply to an order. */
export interface OrderReply {
  /** 200 to 299. Of any other status see `orderStatuses` of `defineDeployment`. */
  readonly status: number;
  /** Headers of the reply. */
  readonly headers: Headers;
  /** Parsed JSON, or text if it is not JSON; `undefined` if empty. */
  readonly body: unknown;
}

/**
 * What a reply says of its order.
 *
 * - `accepted`: the service has it.
 * - `refused`: the service did not take it, and never will.
 * - `unknown`: nobody can tell. An event or a person settles it.
 */
export type OrderVerdict = 'accepted' | 'refused' | 'unknown';

export const orderVerdicts = ['accepted', 'refused', 'unknown'] as const satisfies readonly OrderVerdict[];

/**
 * How replies to orders are read unless the deployment says otherwise (assumed, ledger: `order-reply`): `accepted` if the
 * body is a JSON object in which no member denies it, otherwise `unknown`. A member denies it at the top or one object
 * deeper, whatever the case of names and words:
 *
 * | member | denies the order if it is |
 * |---|---|
 * | `success`, `ok`, `isSuccess` | `false` |
 * | `status` | `false`; `error`, `fail`, `failed`, `failure` or `rejected`; 400 to 599 |
 * | `error`, `errors` | not empty |
 * | `code`, `statusCode` | 400 to 599 |
 * | `responseCode` | anything but 0, 00, 000 and 200 |
 *
 * @example
 * ```ts
 * defineDeployment({
 *   onboardingBaseUrl: 'https://onboarding.example',
 *   // This service accepts an order with 201 and an empty body.
 *   readOrderReply: (reply) =>
 *     reply.status === 201 && reply.body === undefined ? 'accepted' : usualOrderReply(reply),
 * });
 * ```
 */
export function usualOrderReply(reply: OrderReply): OrderVerdict {
  return whyNotAccepted(reply) === undefined ? 'accepted' : 'unknown';
}

/** Why {@link usualOrderReply} does not take a reply for an acceptance: a clause. */
export function whyNotAccepted({ body }: Pick<OrderReply, 'body'>): string | undefined {
  if (!isJsonObject(body)) return 'the reply is not a JSON object, so nothing in it accepts the order';
  const denial = [body, ...Object.values(body).filter(isJsonObject)].flatMap(denialsIn)[0];
  return denial && `the reply denies the order by its member ${denial}`;
}

function denialsIn(object: object): DenyingName[] {
  return Object.entries(object).flatMap(([name, value]) => {
    const plainName = name.toLowerCase().replaceAll(/[_-]/g, '');
    const known = denyingNames.find((each) => each.toLowerCase() === plainName);
    return known !== undefined && denies[known](value) ? [known] : [];
  });
}

/** Which values of a member deny the order. */
const denies = {
  success: isFalse,
  ok: isFalse,
  isSuccess: isFalse,
  status: (value) => isFalse(value) || failureWords.includes(plainText(value)) || isErrorStatus(value),
  error: (value) => !isEmpty(value),
  errors: (value) => !isEmpty(value),
  code: isErrorStatus,
  statusCode: isErrorStatus,
  responseCode: (value) => value !== null && !successCodes.includes(plainText(value)),
} as const satisfies Readonly<Record<string, (value: unknown) => boolean>>;

type DenyingName = keyof typeof denies;
// Sound: the keys of the table.
const denyingNames = Object.keys(denies) as DenyingName[];

const failureWords = ['error', 'fail', 'failed', 'failure', 'rejected'];
const successCodes = ['0', '00', '000', '200'];

/** Services write `false` and `400` as text too. Empty for what is neither text, number nor boolean. */
function plainText(value: unknown): string {
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value).trim().toLowerCase() : '';
}

function isFalse(value: unknown): boolean {
  return plainText(value) === 'false';
}

function isErrorStatus(value: unknown): boolean {
  const status = Number(plainText(value));
  return status >= 400 && status < 600;
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return ['', 'false', '0'].includes(plainText(value));
}

/** What a status says of an order: the service did not act on it, or nobody knows. */
export type OrderStatuses = Readonly<Record<number, 'refused' | 'unknown'>>;

/**
 * Statuses that say something else of an order than of other calls (assumed). 409 and 423 are the usual words of a
 * duplicate check or a lock, so the service may have the order (ledger: `order-conflict`). 429 is listed because it is a
 * guess of its own: a rate limit refuses before it acts (ledger: `order-rate-limit`).
 */
export const usualOrderStatuses: OrderStatuses = Object.freeze({
  409: 'unknown',
  423: 'unknown',
  429: 'refused',
});
