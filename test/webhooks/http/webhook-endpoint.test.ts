import { describe, expect, it } from 'vitest';
import { InboxError, KeyError, type RequestRefusalCode, StoreError } from '../../../src/errors/errors.ts';
import { signatureMismatch } from '../../../src/signature/verify-body.ts';
import type { ReceiveOutcome } from '../../../src/webhooks/receive-outcome.ts';
import { checkHead, refusalResponse, responseTo } from '../../../src/webhooks/webhook-endpoint.ts';

describe('a request', () => {
  it.each([
    [null, undefined],
    ['10', undefined],
    ['11', 'body_too_large'],
  ])('whose content-length is %s has this refusal with a limit of 10: %s', (length, refusal) => {
    expect(checkHead('POST', length, 10)).toBe(refusal);
  });
});

const headersOf = (body: string) => ({
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'content-length': String(body.length),
});

describe('an outcome is answered', () => {
  const reference = { name: 'event.buy.init', digest: '0'.repeat(64), key: { index: 0 } };
  const down = new StoreError('store_conflict', 'down');
  const unread = new InboxError('event_unrecognized', 'unread');
  const noKeys = new KeyError('keys_cooling_down', 'no keys');
  const later = { status: 503, retryAfterMs: 1_001 } as const;
  it.each<[number, string, string | undefined, ReceiveOutcome]>([
    [200, '{"received":true}', undefined, { kind: 'stored', status: 200, ...reference }],
    [
      401,
      '{"error":"signature_mismatch"}',
      undefined,
      { kind: 'refused', status: 401, code: 'signature_mismatch', error: signatureMismatch() },
    ],
    [413, '{"error":"body_too_large"}', undefined, { kind: 'refused', status: 413, code: 'body_too_large' }],
    [
      500,
      '{"error":"handler_failed"}',
      undefined,
      { kind: 'failed', status: 500, code: 'store_conflict', error: down, ...reference },
    ],
    [
      500,
      '{"error":"event_unrecognized"}',
      undefined,
      { kind: 'unrecognized', status: 500, code: 'event_unrecognized', error: unread, ...reference },
    ],
    [503, '{"error":"busy"}', '2', { kind: 'busy', ...later, ...reference }],
    [503, '{"error":"unavailable"}', '2', { kind: 'unavailable', ...later, error: down, ...reference }],
    [
      503,
      '{"error":"unavailable"}',
      '1',
      {
        ...{ kind: 'unverified', status: 503, retryAfterMs: 0, code: 'keys_cooling_down' },
        ...{ error: noKeys, quarantined: false },
      },
    ],
  ])('%i %s, Retry-After %s', (status, body, retryAfter, outcome) => {
    const headers = { ...headersOf(body), ...(retryAfter !== undefined && { 'retry-after': retryAfter }) };
    expect(responseTo(outcome)).toEqual({ status, headers, body });
  });
});

describe('a request that is refused unread is answered', () => {
  it.each<[RequestRefusalCode, number, Record<string, string>]>([
    ['method_not_allowed', 405, { allow: 'POST' }],
    ['body_too_large', 413, {}],
    ['body_timeout', 408, {}],
    ['body_unreadable', 400, {}],
    ['raw_body_required', 500, {}],
  ])('%s with %i', (error, status, headers) => {
    const body = JSON.stringify({ error });
    expect(refusalResponse(error)).toEqual({ status, headers: { ...headersOf(body), ...headers }, body });
  });
});
