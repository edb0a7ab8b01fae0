/** The errors of the shop, and how every framework answers it. */

import { isOrderError, isValidationError } from 'partner-exchange-sdk/orders';
import { isOtpError } from 'partner-exchange-sdk/otp';
import type * as z from 'zod';

/** A request that the shop refuses. The message is for the buyer. */
export class ShopError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Reads the body of a request. @throws {ShopError} that names the members which do not fit */
export function parse<Value>(schema: z.ZodType<Value>, body: unknown): Value {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new ShopError(
    422,
    `Please check ${parsed.error.issues.map(({ path }) => path.join('.')).join(', ')}.`,
  );
}

export interface ErrorAnswer {
  readonly status: number;
  readonly body: { readonly error: string; readonly issues?: readonly unknown[] };
  readonly headers: Readonly<Record<string, string>>;
}

/** Answers an error without showing more of it than the buyer may see. */
export function answerOf(error: unknown): ErrorAnswer {
  if (error instanceof ShopError) return answer(error.status, error.message);
  // A wrong address, amount or phone number: `issues` says which, and why.
  if (isValidationError(error)) {
    return {
      ...answer(422, 'Please check what you typed.'),
      body: { error: 'invalid', issues: error.issues },
    };
  }
  if (isOrderError(error) && error.code === 'different_order')
    return answer(409, 'This id stands for another purchase.');
  if (isOtpError(error)) {
    const { code, retryAfterMs = 1_000 } = error;
    const headers = { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) };
    if (code === 'cool_down' || code === 'limit_reached')
      return { ...answer(429, 'Please wait a while.'), headers };
    if (code === 'refused' || code === 'not_allowed')
      return answer(422, 'No code can be sent to this number.');
    return { ...answer(503, 'Please try again.'), headers };
  }
  console.error('Shop:', error);
  return answer(500, 'Something went wrong here. Send the same purchase again.');
}

function answer(status: number, error: string): ErrorAnswer {
  return { status, body: { error }, headers: {} };
}
