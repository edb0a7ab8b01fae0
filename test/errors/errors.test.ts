import { inspect, types } from 'node:util';
import { beforeAll, describe, expect, expectTypeOf, it, vi } from 'vitest';
import * as errors from '../../src/errors/errors.ts';
import {
  type ConfigurationError,
  type ConfigurationErrorCode,
  type InboxError,
  type InboxErrorCode,
  isConfigurationError,
  isInboxError,
  isKeyError,
  isOnceError,
  isOrderError,
  isOtpError,
  isPartnerExchangeError,
  isRequestError,
  isSignatureError,
  isStoreError,
  isValidationError,
  KeyError,
  type KeyErrorCode,
  type OnceError,
  type OnceErrorCode,
  type OrderError,
  type OrderErrorCode,
  type OtpError,
  type OtpErrorCode,
  outcomeOf,
  PartnerExchangeError,
  RequestError,
  type RequestErrorCode,
  type RequestErrorDetails,
  type RequestOutcome,
  reworded,
  type SdkError,
  SignatureError,
  type SignatureErrorCode,
  StoreError,
  type StoreErrorCode,
  ValidationError,
  wholeMessage,
} from '../../src/errors/errors.ts';

const details: RequestErrorDetails = {
  outcome: 'refused',
  operation: 'createOrder',
  method: 'POST',
  url: 'https://service.example/orders',
};

/** One error of each class, of a copy of the package. */
const oneOfEach = (copy: typeof errors) => ({
  ConfigurationError: new copy.ConfigurationError('invalid_option', 'wrong'),
  SignatureError: new copy.SignatureError('signature_mismatch', 'wrong'),
  ValidationError: new copy.ValidationError('The body', []),
  RequestError: new copy.RequestError('http_error', 'wrong', details),
  InboxError: new copy.InboxError('store_full', 'wrong'),
  KeyError: new copy.KeyError('keys_unavailable', 'wrong'),
  OnceError: new copy.OnceError('unknown', 'wrong'),
  OrderError: new copy.OrderError('in_progress', 'wrong', { partner_order_id: 'A-1' }),
  OtpError: new copy.OtpError('cool_down', 'wrong'),
  StoreError: new copy.StoreError('store_failed', 'wrong'),
});

const guards = {
  ConfigurationError: isConfigurationError,
  SignatureError: isSignatureError,
  ValidationError: isValidationError,
  RequestError: isRequestError,
  InboxError: isInboxError,
  KeyError: isKeyError,
  OnceError: isOnceError,
  OrderError: isOrderError,
  OtpError: isOtpError,
  StoreError: isStoreError,
};

const kinds = Object.values(oneOfEach(errors)).map((own) => {
  // Sound: each is of a class above.
  const kind = own.name as keyof typeof guards;
  return { kind, own, guard: guards[kind] };
});

/** The same errors made by a second evaluation of the modules, as when two versions are installed. */
let foreign: Readonly<Record<string, Error>> = {};

beforeAll(async () => {
  vi.resetModules();
  foreign = oneOfEach(await import('../../src/errors/errors.ts'));
});

describe.each(kinds)('$kind', ({ kind, guard, own }) => {
  it('is recognised by its guard and as an error of the package, also when another copy threw it', () => {
    expect(own).toBeInstanceOf(PartnerExchangeError);
    expect(foreign[kind]).not.toBeInstanceOf(PartnerExchangeError);
    for (const error of [own, foreign[kind]])
      expect([guard(error), isPartnerExchangeError(error)]).toEqual([true, true]);
  });

  it('says its name and keeps it out of its enumerable members', () => {
    expect(String(own)).toMatch(new RegExp(`^${kind}: `));
    expect(Object.keys(own)).not.toContain('name');
  });

  it('is not taken for any other kind, nor anything else for it', () => {
    const others = kinds.filter((other) => other.kind !== kind);
    expect(others.filter((other) => other.guard(own) || other.guard(foreign[kind]))).toEqual([]);
    const named = Object.assign(new Error('wrong'), { name: kind });
    for (const value of [new Error('wrong'), named, { name: kind, code: own.code }, undefined, null, kind])
      expect(guard(value)).toBe(false);
  });
});

describe('an error of the package', () => {
  it.each(kinds)('of the kind $kind has a wait only where it is known', ({ own }) => {
    expect(own).not.toHaveProperty('retryAfterMs');
    expect(reworded(own, { what: 'Other words' })).not.toHaveProperty('retryAfterMs');
  });
});

describe('a message', () => {
  it('says what failed, what to do about its code, and where to read more', () => {
    expect(new SignatureError('signature_mismatch', 'The signature does not match.').message).toBe(
      'The signature does not match. If the service sent it, find out why with explainMismatch of partner-exchange-sdk/diagnostics. See partner-exchange-sdk/docs/errors.md#signature_mismatch.',
    );
  });

  it('says what to do in the words of the place that throws, where that knows more', () => {
    const error = new KeyError('key_storage_invalid', 'The vault is sealed', { remedy: 'Unseal it' });
    expect(error.message).toBe(
      'The vault is sealed. Unseal it. See partner-exchange-sdk/docs/errors.md#key_storage_invalid.',
    );
  });

  it('has only what failed and the link for a code that the table does not have', () => {
    // @ts-expect-error: no such code
    expect(new StoreError('constructor', 'It failed.').message).toBe(
      'It failed. See partner-exchange-sdk/docs/errors.md#constructor.',
    );
  });

  it('is whole from its parts, whatever became of its text, also of another copy', () => {
    const own = kinds.map((kind) => kind.own);
    for (const error of [...own, ...Object.values(foreign).filter(isPartnerExchangeError)]) {
      const before = error.message;
      error.message = 'changed';
      expect(wholeMessage(error)).toBe(before);
    }
  });
});

describe('a reworded error', () => {
  const original = new RequestError('http_error', 'It failed.', { ...details, status: 429 });

  it('has the new words, and the old ones where there are none', () => {
    const copy = reworded(original, { what: 'It failed for good.' });
    expect(copy.message).toBe(original.message.replace('It failed.', 'It failed for good.'));
    expect(reworded(original, { remedy: 'Wait.' }).message).toBe(
      'It failed. Wait. See partner-exchange-sdk/docs/errors.md#http_error.',
    );
    expect(original.message).toMatch(/^It failed\. Look/);
  });

  it.each(kinds)('has every other member of the $kind that it was made of', ({ own, guard, kind }) => {
    const { message, stack, ...members } = Object.getOwnPropertyDescriptors(own);
    const copy = reworded(own, { what: 'Other words' });
    const another = foreign[kind];
    if (isPartnerExchangeError(another)) expect(guard(reworded(another, {}))).toBe(true);
    expect(guard(copy) && types.isNativeError(copy)).toBe(true);
    expect(copy).toBeInstanceOf(PartnerExchangeError);
    expect(String(copy)).toBe(`${kind}: ${copy.message}`);
    expect(Object.getOwnPropertyDescriptors(copy)).toMatchObject(members);
  });
});

it('a validation error names the member of every issue in its message', () => {
  const issues = [
    { path: ['a', 0, 'b'], message: 'must be text' },
    { path: [], message: 'is too large' },
  ];
  expect(new ValidationError('The order', issues).message).toBe(
    'The order: a.0.b: must be text; is too large. See partner-exchange-sdk/docs/errors.md#invalid_input.',
  );
});

describe('a request error', () => {
  const cause = new Error('socket closed');
  const error = new RequestError('http_error', 'The service refused the order.', {
    ...details,
    attempts: 3,
    status: 422,
    headers: new Headers({ 'x-reply-secret': 'header-secret' }),
    body: { one_time_link: 'body-secret' },
    retryAfterMs: 0,
    cause,
  });

  it('hands out status, headers, body and the wait the service asked for', () => {
    expect(error.status).toBe(422);
    expect(error.headers?.get('x-reply-secret')).toBe('header-secret');
    expect(error.body).toEqual({ one_time_link: 'body-secret' });
    expect(error.retryAfterMs).toBe(0);
  });

  it.each([
    ['printed', () => inspect(error)],
    ['turned into JSON', () => JSON.stringify(error)],
    ['turned into a string', () => String(error)],
    ['copied by a spread', () => inspect({ ...error })],
  ])('does not show the reply when %s', (_, show) => {
    expect(show()).not.toMatch(/(body|header)-secret/);
  });
});

describe('the outcome of a call that failed', () => {
  it.each<RequestOutcome>(['not-sent', 'refused', 'unknown'])(
    'is that of its request error: %s',
    (outcome) => {
      expect(outcomeOf(new RequestError('http_error', 'wrong', { ...details, outcome }))).toBe(outcome);
    },
  );

  it('is not-sent for the errors that clients throw before anything leaves, and unknown for all others', () => {
    const others = kinds.filter(({ kind }) => kind !== 'RequestError');
    const early = others.filter(({ own }) => outcomeOf(own) === 'not-sent').map(({ kind }) => kind);
    expect(early.sort()).toEqual(['ConfigurationError', 'KeyError', 'ValidationError']);
    expect(others.filter(({ own }) => outcomeOf(own) === 'unknown')).toHaveLength(
      others.length - early.length,
    );
    for (const other of [new TypeError('?'), 'text', undefined, null]) {
      expect(outcomeOf(other)).toBe('unknown');
    }
  });
});

describe('error types', () => {
  it('branch on literal codes', () => {
    expectTypeOf<RequestError['code']>().toEqualTypeOf<RequestErrorCode>();
    expectTypeOf<ValidationError['code']>().toEqualTypeOf<'invalid_input' | 'address_refused'>();
  });

  it('are narrowed to the class by a switch over the code', () => {
    const found = kinds.map(({ own }) => {
      const error: SdkError = own;
      return classOf(error);
    });
    expect(found).toEqual(kinds.map(({ kind }) => kind));
  });

  it('share no code, but for the one of inboxes and one-time codes, and the two of orders and effects', () => {
    expectTypeOf<ConfigurationErrorCode & Exclude<SdkError, ConfigurationError>['code']>().toBeNever();
    expectTypeOf<
      InboxErrorCode & Exclude<SdkError, InboxError>['code']
    >().toEqualTypeOf<'store_unavailable'>();
    expectTypeOf<OtpErrorCode & Exclude<SdkError, OtpError>['code']>().toEqualTypeOf<'store_unavailable'>();
    expectTypeOf<OrderErrorCode & Exclude<SdkError, OrderError>['code']>().toEqualTypeOf<
      'in_progress' | 'already_settled'
    >();
    expectTypeOf<OnceErrorCode & Exclude<SdkError, OnceError>['code']>().toEqualTypeOf<
      'in_progress' | 'already_settled'
    >();
    expectTypeOf<RequestErrorCode & Exclude<SdkError, RequestError>['code']>().toBeNever();
    expectTypeOf<SignatureErrorCode & Exclude<SdkError, SignatureError>['code']>().toBeNever();
    expectTypeOf<KeyErrorCode & Exclude<SdkError, KeyError>['code']>().toBeNever();
    expectTypeOf<StoreErrorCode & Exclude<SdkError, StoreError>['code']>().toBeNever();
  });
});

/** What matters is what `tsc` makes of each branch. */
function classOf(error: SdkError): string {
  switch (error.code) {
    case 'invalid_input':
    case 'address_refused':
      expectTypeOf(error).toEqualTypeOf<ValidationError>();
      return 'ValidationError';
    case 'store_unavailable':
      expectTypeOf(error).toEqualTypeOf<InboxError | OtpError>();
      return error.name;
    case 'store_full':
      expectTypeOf(error).toEqualTypeOf<InboxError>();
      return 'InboxError';
    case 'keys_unavailable':
      expectTypeOf(error).toEqualTypeOf<KeyError>();
      return 'KeyError';
    case 'in_progress':
      expectTypeOf(error).toEqualTypeOf<OnceError | OrderError>();
      return error.name;
    case 'order_refused':
      expectTypeOf(error).toEqualTypeOf<OrderError>();
      return 'OrderError';
    case 'unknown':
      expectTypeOf(error).toEqualTypeOf<OnceError>();
      return 'OnceError';
    case 'cool_down':
      expectTypeOf(error).toEqualTypeOf<OtpError>();
      return 'OtpError';
    case 'store_failed':
      expectTypeOf(error).toEqualTypeOf<StoreError>();
      return 'StoreError';
    case 'http_error':
      expectTypeOf(error).toEqualTypeOf<RequestError>();
      return 'RequestError';
    case 'signature_mismatch':
      expectTypeOf(error).toEqualTypeOf<SignatureError>();
      return 'SignatureError';
    case 'invalid_option':
      expectTypeOf(error).toEqualTypeOf<ConfigurationError>();
      return 'ConfigurationError';
    default:
      expectTypeOf(error).toEqualTypeOf<Exclude<SdkError, ValidationError>>();
      return 'another code';
  }
}
