import type { StandardSchema } from '../deployment/standard-schema.ts';
import { ValidationError } from '../errors/errors.ts';
import { type CallOptions, callRows, type ReplyBody, type ReplySchema } from '../http/call.ts';
import { checkWithSchema } from '../http/check-input.ts';
import type { Reply } from '../http/reply.ts';
import { isJsonObject, type JsonObject } from '../internal/json.ts';
import { defineOptions, type OptionTable, optional, text } from '../internal/options.ts';

/** Options of a call that creates an order. */
export interface OrderCallOptions<Schema extends ReplySchema = ReplySchema> extends CallOptions<Schema> {
  /**
   * Which of `merchantSecretKeys` signs. @default the only merchant, or the one that is named like the order's
   * `fiat_currency`; refused if that leaves a choice
   */
  merchant?: string | undefined;
}

/** An order that was checked, but not sent: see `prepareOrder` of `ExchangeClient`. */
export interface PreparedOrder {
  /** The order as the deployment's `orderSchema` made it, under the published names. */
  readonly payload: JsonObject;
  /** Of the credentials that signed when it was checked. */
  readonly partnerId: string | undefined;
  /** Of the same. */
  readonly partnerCode?: string | undefined;
  /** Identifies the rotation of the same, if they come from one. */
  readonly rotation?: string | undefined;
  /** Sends it, as `createOrder` does; each call is a request of its own. @throws {RequestError} */
  send<Schema extends ReplySchema = undefined>(
    options?: CallOptions<Schema>,
  ): Promise<Reply<ReplyBody<Schema>>>;
}

const merchantRow = { merchant: optional(text()) };

export const readPrepareOptions = defineOptions('prepareOrder', merchantRow);
export const readOrderCallOptions = defineOptions('createOrder', {
  ...callRows,
  ...merchantRow,
} satisfies OptionTable<OrderCallOptions>);

/** The payload of an order, as its schema makes it. @throws {ValidationError} */
export async function checkOrder(schema: StandardSchema, order: unknown): Promise<JsonObject> {
  const checked = await checkWithSchema('createOrder', schema, order);
  if (isJsonObject(checked)) return checked;
  throw new ValidationError('createOrder', [{ path: [], message: 'must be an object' }]);
}
