/** A 2xx reply to an order. */
export interface OrderReply {
  /** 200 to 299: any other status says by itself whether the service can have acted. */
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
 * How replies to orders are read unless the deployment says otherwise (assumed, ledger: `order-reply`): `unknown` if one
 * of the usual members says that it failed (`success: false`; `status: "error"` or `"failed"`; an `error` that is not
 * empty; a `statusCode` of 400 and more), otherwise `accepted`.
 *
 * @example
 * ```ts
 * defineDeployment({
 *   onboardingBaseUrl: 'https://onboarding.example',
 *   readOrderReply: (reply) => (reply.status === 202 ? 'unknown' : usualOrderReply(reply)),
 * });
 * ```
 */
export function usualOrderReply({ body }: OrderReply): OrderVerdict {
  if (typeof body !== 'object' || body === null) return 'accepted';
  const { success, status, error, statusCode }: { readonly [name: string]: unknown } = { ...body };
  const failed =
    lowerCase(success) === 'false' ||
    ['error', 'failed'].includes(lowerCase(status)) ||
    !isEmpty(error) ||
    Number(lowerCase(statusCode)) >= 400;
  return failed ? 'unknown' : 'accepted';
}

/** Services write `false` and `400` as text too. Empty for what is neither text, number nor boolean. */
function lowerCase(value: unknown): string {
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value).trim().toLowerCase() : '';
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return ['', 'false', '0'].includes(lowerCase(value));
}
