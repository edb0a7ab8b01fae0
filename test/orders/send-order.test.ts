import { describe, expect, it } from 'vitest';
import type { Reply } from '../../src/client/reply.ts';
import {
  KeyError,
  RequestError,
  type RequestErrorCode,
  type RequestOutcome,
} from '../../src/errors/errors.ts';
import { sendOrder } from '../../src/orders/order-attempts.ts';
import { processWarnings } from '../support/process-warnings.ts';

/** Sends an order to a service whose reply, or whose failure, is given. */
async function sendWith(answer: Partial<Reply> | Error, duplicateStatuses: readonly number[] = []) {
  const warnings = processWarnings();
  const send = async () => {
    if (answer instanceof Error) throw answer;
    return { status: 200, headers: new Headers(), body: undefined, ...answer };
  };
  const sent = await sendOrder(
    // Sound: without a schema a body has any type.
    { payload: {}, partnerId: undefined, send: send as never },
    {},
    duplicateStatuses,
  );
  return { ...sent, warnings: warnings() };
}

interface Failure {
  readonly code?: RequestErrorCode;
  readonly outcome: RequestOutcome;
  readonly status?: number;
  readonly cause?: unknown;
}

function failed({ code = 'http_error', ...details }: Failure): RequestError {
  const url = 'https://exchange.example/orders';
  return new RequestError(code, 'It failed.', { operation: 'createOrder', method: 'POST', url, ...details });
}

describe('a request that failed', () => {
  const everything = [200, 409, 422, 423, 429, 500, 503];

  it.each<Failure>([
    { outcome: 'unknown', status: 500 },
    { outcome: 'unknown', status: 503 },
    { outcome: 'unknown', code: 'network_error' },
    { outcome: 'unknown', code: 'reply_not_accepted', status: 409 },
    { outcome: 'unknown', code: 'reply_nonconforming', status: 200 },
    { outcome: 'not-sent', code: 'timeout' },
  ])('is no duplicate, whatever its status: %j', async (failure) => {
    const error = failed(failure);
    const sent = await sendWith(error, everything);
    expect(sent).toMatchObject({ result: { outcome: failure.outcome } });
    expect('error' in sent && sent.error).toBe(error);
  });

  it.each<[RequestOutcome, number]>([
    ['unknown', 409],
    ['unknown', 423],
    ['refused', 422],
  ])('whose outcome is %s is a duplicate with %i, if that is listed', async (outcome, status) => {
    const error = failed({ outcome, status });
    const sent = await sendWith(error, everything);
    expect(sent.result).toEqual({ outcome: 'duplicate', status, failure: 'http_error' });
    expect('error' in sent && sent.error).toBe(error);
    expect((await sendWith(error, [400])).result).toMatchObject({ outcome });
  });

  const cause = new KeyError('keys_replaced', 'Newer keys came.');

  it.each<[Failure, boolean]>([
    [{ outcome: 'refused', status: 401, cause }, true],
    [{ outcome: 'refused', status: 403, cause }, true],
    [{ outcome: 'refused', status: 403 }, false],
    [{ outcome: 'refused', status: 422, cause }, false],
    [{ outcome: 'not-sent', code: 'network_error', cause }, false],
    [{ outcome: 'unknown', status: 401, cause }, false],
  ])('%j waits for keys: %s', async (failure, waits) => {
    const { result } = await sendWith(failed(failure));
    expect(result.outcome).toBe(waits ? 'waiting' : failure.outcome);
    expect(result).not.toHaveProperty('retryAfterMs');
  });

  it.each<[Failure & { readonly retryAfterMs?: number }, readonly number[], object]>([
    [
      { outcome: 'refused', status: 429, retryAfterMs: 5_000 },
      [],
      { outcome: 'waiting', retryAfterMs: 5_000 },
    ],
    [{ outcome: 'refused', status: 429 }, [], { outcome: 'waiting', retryAfterMs: 0 }],
    // Time ran out before it could be sent again.
    [
      { outcome: 'refused', code: 'timeout', status: 429, retryAfterMs: 5_000 },
      [],
      { outcome: 'waiting', failure: 'timeout', retryAfterMs: 5_000 },
    ],
    [{ outcome: 'unknown', status: 429, retryAfterMs: 5_000 }, [], { outcome: 'unknown' }],
    [{ outcome: 'refused', status: 422, retryAfterMs: 5_000 }, [], { outcome: 'refused' }],
    [{ outcome: 'refused', status: 429 }, everything, { outcome: 'duplicate' }],
  ])('%j under %j is %j for a rate limit', async (failure, settings, expected) => {
    const { status } = failure;
    const { result } = await sendWith(failed(failure), settings);
    expect(result).toEqual({ failure: 'http_error', status, ...expected });
  });
});
