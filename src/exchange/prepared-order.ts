import type { StandardSchema } from '../deployment/standard-schema.ts';
import { ValidationError } from '../errors/validation-error.ts';
import { type CallOptions, callOptionNames } from '../http/call.ts';
import { checkWithSchema } from '../http/check-input.ts';
import type { Reply } from '../http/reply.ts';
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import type { OptionNames } from '../options/check-names.ts';

export interface OrderCallOptions<Body = unknown> extends CallOptions<Body> {
  /** Which of `merchantSecretKeys` signs; not needed with a single merchant. */
  merchant?: string | undefined;
}

/** An order that was checked, but not sent: see `prepareOrder` of `ExchangeClient`. */
export interface PreparedOrder {
  /** What the deployment's `orderSchema` made of the order, under the published names. */
  readonly payload: JsonObject;
  /** Of the credentials that signed when it was checked. */
  readonly partnerId: string | undefined;
  /** Sends it, as `createOrder` does; each call is a request of its own. @throws {RequestError} */
  send<Body = unknown>(options?: CallOptions<Body>): Promise<Reply<Body>>;
}

export const orderCallOptionNames: OptionNames<OrderCallOptions> = { ...callOptionNames, merchant: true };

/** The payload of an order, as its schema makes it. @throws {ValidationError} */
export async function checkOrder(schema: StandardSchema, order: unknown): Promise<JsonObject> {
  const checked = await checkWithSchema('createOrder', schema, order);
  if (isJsonObject(checked)) return checked;
  throw new ValidationError('createOrder', [{ path: [], message: 'must be an object' }]);
}
