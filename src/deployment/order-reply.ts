import { isJsonObject, type JsonObject, type JsonValue } from '../internal/json.ts';
import { integer, invalidOption, list, nested, type OptionRow } from '../internal/options.ts';
import { writeSorted } from '../signature/write-json.ts';
import { isDenial } from './denying-members.ts';
import { reportedBuyOrder } from './order-schema.ts';
import { shapeOfReply } from './reply-shape.ts';

/** A 2xx reply to an order, or to a message. */
export interface ReceivedReply {
  /** 200 to 299. Of any other status see `orderStatuses` of `defineDeployment`. */
  readonly status: number;
  /** Headers of the reply. */
  readonly headers: Headers;
  /** Parsed JSON, or text if it is not JSON; `undefined` if empty. */
  readonly body: unknown;
  /** The order, as it was posted; absent where it is not known, as for `learn`, which has names and types alone. */
  readonly order?: JsonObject | undefined;
}

/**
 * What a reply says of its order, or of its message.
 *
 * - `accepted`: the service has it.
 * - `refused`: the service did not take it, and never will.
 * - `unknown`: the reply does not say. An event or a person settles an order.
 */
export type ReplyVerdict = 'accepted' | 'refused' | 'unknown';

export const replyVerdicts = ['accepted', 'refused', 'unknown'] as const satisfies readonly ReplyVerdict[];

/**
 * How replies to orders are read unless the deployment says otherwise (assumed, ledger: `order-reply`): `accepted` if the
 * body is a JSON object in which no member denies the order or names another one, and at least one is the service's own:
 * `{}` and a copy of what was posted accept nothing. Otherwise `unknown`. A member denies it at the top or one object
 * deeper, whatever the case of names and words:
 *
 * | member | denies the order if it is |
 * |---|---|
 * | `success`, `ok`, `isSuccess` | `false` |
 * | `status` | `false`; `error`, `fail`, `failed`, `failure` or `rejected`; 400 to 599 |
 * | `error`, `errors` | not empty |
 * | `code`, `statusCode` | 400 to 599 |
 * | `responseCode` | anything but 0, 00, 000 and 200 |
 * | `partner_order_id` | another id than the order's |
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
export function usualOrderReply({ body, order }: Pick<ReceivedReply, 'body' | 'order'>): ReplyVerdict {
  if (!isJsonObject(body) || isDenial(body)) return 'unknown';
  const objects = [body, ...Object.values(body).filter(isJsonObject)];
  if (objects.some((object) => namesOther(object, order))) return 'unknown';
  return hasOwnMember(body, order) ? 'accepted' : 'unknown';
}

/** A reply that accepts an order or a message although the usual reading does not know it. Plain data. */
export interface AcceptingReply {
  /** 200 to 299. */
  readonly status: number;
  /** `empty`, `list`, `null` or `true`; of a text its shape as in `onResponse`: `text:` and 16 hexadecimal digits. */
  readonly body: string;
}

/** How replies to orders or messages are read, as data: what `learn` of `./diagnostics` writes. */
export interface ReplyRules {
  /** Replies that accept an order or a message, besides the usual ones. */
  readonly accepted: readonly AcceptingReply[];
}

/** The form of a body that is no object, as {@link AcceptingReply} names it; `undefined` if it cannot accept an order. */
export function acceptingForm(body: unknown): string | undefined {
  if (body === undefined) return 'empty';
  if (body === null || body === true) return String(body);
  if (Array.isArray(body)) return isDenial(body) ? undefined : 'list';
  return typeof body === 'string' && body !== '' ? String(shapeOfReply(body)) : undefined;
}

/** Reads replies as the rules say, and others as usual. */
export function readerByRules(
  { accepted }: ReplyRules,
  usual: (reply: ReceivedReply) => ReplyVerdict = usualOrderReply,
): (reply: ReceivedReply) => ReplyVerdict {
  return (reply) => {
    const form = acceptingForm(reply.body);
    const isKnown = accepted.some(({ status, body }) => status === reply.status && body === form);
    return isKnown ? 'accepted' : usual(reply);
  };
}

/** @throws {ConfigurationError} `invalid_option` */
export const checkReplyRules: OptionRow<ReplyRules> = nested({
  accepted: list(nested({ status: integer({ least: 200, most: 299 }), body: checkForm })),
});

function checkForm(form: unknown, name: string): string {
  if (typeof form === 'string' && /^(?:empty|list|null|true|text:[0-9a-f]{16})$/.test(form)) return form;
  throw invalidOption(
    `${name} must be "empty", "list", "null", "true", or "text:" and 16 hexadecimal digits.`,
  );
}

function namesOther(object: JsonObject, order: JsonObject | undefined): boolean {
  const id = order?.partner_order_id;
  if (typeof id !== 'string') return false;
  return Object.entries(object).some(
    ([name, value]) =>
      /^partner[_-]?order[_-]?id$/i.test(name) &&
      (typeof value === 'string' || typeof value === 'number') &&
      String(value) !== id,
  );
}

/**
 * Whether a reply has a member that is not a copy of what was posted, at the top or one object deeper. `null` and what is
 * empty say nothing.
 *
 * @param posted without it the published names of an order are those that may be copies
 */
function hasOwnMember(body: JsonObject, posted: JsonObject | undefined): boolean {
  return Object.entries(body).some(([name, value]) => {
    if (isCopy(name, value, posted)) return false;
    if (!isJsonObject(value)) return value !== null && !(Array.isArray(value) && value.length === 0);
    return Object.entries(value).some(
      ([inner, each]) =>
        !isCopy(inner, each, posted) &&
        each !== null &&
        (typeof each !== 'object' || Object.keys(each).length > 0),
    );
  });
}

function isCopy(name: string, value: JsonValue, posted: JsonObject | undefined): boolean {
  if (posted === undefined) return postedNames.has(name);
  if (!Object.hasOwn(posted, name)) return false;
  const sent = posted[name];
  return typeof value === 'object' ? isSameJson(value, sent) : isSameText(String(value), String(sent));
}

function isSameJson(value: JsonValue, sent: JsonValue | undefined): boolean {
  return sent !== undefined && writeSorted(value) === writeSorted(sent);
}

/** A number may have lost the zeros of its text. */
function isSameText(one: string, other: string): boolean {
  return one === other || (one.trim() !== '' && Number(one) === Number(other));
}

const postedNames: ReadonlySet<string> = new Set([...Object.keys(reportedBuyOrder.shape), 'signature']);

/** The outcome that a status states: the service did not act on the order, or may have acted. */
export type OrderStatuses = Readonly<Record<number, 'refused' | 'unknown'>>;

/**
 * Statuses that say something else of an order than of other calls (assumed). 409 and 423 are the usual words of a
 * duplicate check or a lock, so the service may have the order (ledger: `order-conflict`). 429 is listed because it is a
 * guess of its own: a rate limit refuses before it acts, so an order journal sends the order again (ledger:
 * `order-rate-limit`).
 */
export const usualOrderStatuses: OrderStatuses = Object.freeze({
  409: 'unknown',
  423: 'unknown',
  429: 'refused',
});
