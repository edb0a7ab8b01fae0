import { readdirSync } from 'node:fs';
import { inspect } from 'node:util';
import { beforeAll, describe, expect, expectTypeOf, it, vi } from 'vitest';
import { BulkError, type BulkErrorCode, isBulkError } from '../../src/errors/bulk-error.ts';
import {
  ConfigurationError,
  type ConfigurationErrorCode,
  isConfigurationError,
} from '../../src/errors/configuration-error.ts';
import { InboxError, type InboxErrorCode, isInboxError } from '../../src/errors/inbox-error.ts';
import { isKeyError, KeyError, type KeyErrorCode } from '../../src/errors/key-error.ts';
import { isOrderError, OrderError, type OrderErrorCode } from '../../src/errors/order-error.ts';
import { isOtpError, OtpError, type OtpErrorCode } from '../../src/errors/otp-error.ts';
import { PartnerExchangeError } from '../../src/errors/partner-exchange-error.ts';
import {
  isRequestError,
  RequestError,
  type RequestErrorCode,
  type RequestErrorDetails,
  type RequestOutcome,
} from '../../src/errors/request-error.ts';
import { isPartnerExchangeError, type SdkError } from '../../src/errors/sdk-error.ts';
import {
  isSignatureError,
  SignatureError,
  type SignatureErrorCode,
} from '../../src/errors/signature-error.ts';
import { isStoreError, StoreError, type StoreErrorCode } from '../../src/errors/store-error.ts';
import { isValidationError, ValidationError } from '../../src/errors/validation-error.ts';

const details: RequestErrorDetails = {
  code: 'http_error',
  outcome: 'refused',
  operation: 'createOrder',
  method: 'POST',
  url: 'https://service.example/orders',
};

const kinds = [
  {
    kind: 'ConfigurationError',
    guard: isConfigurationError,
    own: new ConfigurationError('invalid_option', 'wrong'),
  },
  { kind: 'SignatureError', guard: isSignatureError, own: new SignatureError('signature_mismatch', 'wrong') },
  { kind: 'ValidationError', guard: isValidationError, own: new ValidationError('The body', []) },
  { kind: 'RequestError', guard: isRequestError, own: new RequestError('wrong', details) },
  { kind: 'InboxError', guard: isInboxError, own: new InboxError('store_full', 'wrong') },
  { kind: 'KeyError', guard: isKeyError, own: new KeyError('keys_unavailable', 'wrong') },
  {
    kind: 'OrderError',
    guard: isOrderError,
    own: new OrderError('in_progress', 'wrong', { partner_order_id: 'A-1' }),
  },
  { kind: 'BulkError', guard: isBulkError, own: new BulkError('no_device_left', 'wrong') },
  { kind: 'OtpError', guard: isOtpError, own: new OtpError('cool_down', 'wrong') },
  { kind: 'StoreError', guard: isStoreError, own: new StoreError('store_failed', 'wrong') },
] as const;

/** The same errors made by a second evaluation of the modules, as when two versions are installed. */
const foreign: Record<string, Error> = {};

beforeAll(async () => {
  vi.resetModules();
  const configuration = await import('../../src/errors/configuration-error.ts');
  const signature = await import('../../src/errors/signature-error.ts');
  const validation = await import('../../src/errors/validation-error.ts');
  const request = await import('../../src/errors/request-error.ts');
  const inbox = await import('../../src/errors/inbox-error.ts');
  const key = await import('../../src/errors/key-error.ts');
  const order = await import('../../src/errors/order-error.ts');
  const bulk = await import('../../src/errors/bulk-error.ts');
  const otp = await import('../../src/errors/otp-error.ts');
  const store = await import('../../src/errors/store-error.ts');
  foreign.ConfigurationError = new configuration.ConfigurationError('invalid_option', 'wrong');
  foreign.SignatureError = new signature.SignatureError('signature_mismatch', 'wrong');
  foreign.ValidationError = new validation.ValidationError('The body', []);
  foreign.InboxError = new inbox.InboxError('store_full', 'wrong');
  foreign.KeyError = new key.KeyError('rotation_pending', 'wrong');
  foreign.OrderError = new order.OrderError('in_progress', 'wrong', { partner_order_id: 'A-1' });
  foreign.BulkError = new bulk.BulkError('no_device_left', 'wrong');
  foreign.OtpError = new otp.OtpError('cool_down', 'wrong');
  foreign.StoreError = new store.StoreError('store_conflict', 'wrong');
  foreign.RequestError = new request.RequestError('wrong', details);
});

describe.each(kinds)('$kind', ({ kind, guard, own }) => {
  it('is an Error and a PartnerExchangeError', () => {
    expect(own).toBeInstanceOf(Error);
    expect(own).toBeInstanceOf(PartnerExchangeError);
  });

  it('says its name and keeps it out of its enumerable members', () => {
    expect(String(own)).toMatch(new RegExp(`^${kind}: `));
    expect(Object.keys(own)).not.toContain('name');
  });

  it('is recognised by its guard', () => {
    expect(guard(own)).toBe(true);
  });

  it('is recognised by its guard when another copy of the package threw it', () => {
    expect(foreign[kind]).not.toBeInstanceOf(PartnerExchangeError);
    expect(guard(foreign[kind])).toBe(true);
  });

  it('is recognised as an error of the package when another copy threw it', () => {
    expect(isPartnerExchangeError(foreign[kind])).toBe(true);
  });

  it('is not taken for any other kind', () => {
    const others = kinds.filter((other) => other.kind !== kind);
    expect(others.filter((other) => other.guard(own) || other.guard(foreign[kind]))).toEqual([]);
  });

  it.each([
    ['an ordinary error', new Error('wrong')],
    ['an error that only has the name', Object.assign(new Error('wrong'), { name: kind })],
    ['an object that is no error', { name: kind, code: own.code, message: 'wrong' }],
    ['undefined', undefined],
    ['null', null],
    ['a string', kind],
  ])('does not hold for %s', (_, value) => {
    expect(guard(value)).toBe(false);
  });
});

describe('an error of the package', () => {
  it.each([undefined, null, 'wrong', new Error('wrong'), new TypeError('wrong'), {}])(
    'is not seen in %s',
    (value) => {
      expect(isPartnerExchangeError(value)).toBe(false);
    },
  );

  it('cites no assumption unless it was given one', () => {
    expect(new SignatureError('body_not_json', 'wrong').assumptions).toEqual([]);
    expect(new ConfigurationError('invalid_option', 'wrong').assumptions).toEqual([]);
    expect(new RequestError('wrong', details).assumptions).toEqual([]);
  });

  it('keeps the assumptions it was given', () => {
    const options = { assumptions: ['signature-key'] };
    expect(new SignatureError('signature_mismatch', 'wrong', options).assumptions).toEqual(['signature-key']);
    expect(new ConfigurationError('not_configured', 'wrong', options).assumptions).toEqual(['signature-key']);
    expect(new RequestError('wrong', { ...details, ...options }).assumptions).toEqual(['signature-key']);
  });
});

describe('a validation error', () => {
  it('names the member of every issue in its message', () => {
    const error = new ValidationError('The order', [
      { path: ['a', 0, 'b'], message: 'must be text' },
      { path: [], message: 'is too large' },
    ]);
    expect(error.message).toBe('The order: a.0.b: must be text; is too large');
  });
});

describe('a request error', () => {
  const cause = new Error('socket closed');
  const error = new RequestError('The service refused the order.', {
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

  it('keeps its cause', () => {
    expect(error.cause).toBe(cause);
  });

  it('has no cause member without a cause', () => {
    expect('cause' in new RequestError('wrong', details)).toBe(false);
  });

  it('counts one attempt unless told otherwise', () => {
    expect(new RequestError('wrong', details).attempts).toBe(1);
    expect(error.attempts).toBe(3);
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

describe('error types', () => {
  it('branch on literal codes', () => {
    expectTypeOf<SignatureError['code']>().toEqualTypeOf<SignatureErrorCode>();
    expectTypeOf<ConfigurationError['code']>().toEqualTypeOf<ConfigurationErrorCode>();
    expectTypeOf<RequestError['code']>().toEqualTypeOf<RequestErrorCode>();
    expectTypeOf<ValidationError['code']>().toEqualTypeOf<'invalid_input'>();
    expectTypeOf<RequestError['outcome']>().toEqualTypeOf<'not-sent' | 'refused' | 'unknown'>();
    expectTypeOf<RequestOutcome>().toEqualTypeOf<'not-sent' | 'refused' | 'unknown'>();
  });

  it('have no code that is any string', () => {
    expectTypeOf<string>().not.toExtend<SignatureErrorCode>();
    expectTypeOf<string>().not.toExtend<ConfigurationErrorCode>();
    expectTypeOf<string>().not.toExtend<RequestErrorCode>();
  });

  it('are narrowed by the guards', () => {
    const error: unknown = new SignatureError('body_not_json', 'wrong');
    if (isSignatureError(error)) expectTypeOf(error).toEqualTypeOf<SignatureError>();
    if (isRequestError(error)) expectTypeOf(error).toEqualTypeOf<RequestError>();
    if (isInboxError(error)) expectTypeOf(error).toEqualTypeOf<InboxError>();
    if (isPartnerExchangeError(error)) expectTypeOf(error).toEqualTypeOf<SdkError>();
  });

  it('are every class that extends the base', () => {
    const classes = readdirSync(new URL('../../src/errors/', import.meta.url)).filter(
      (file) => file.endsWith('-error.ts') && !['partner-exchange-error.ts', 'sdk-error.ts'].includes(file),
    );
    const inUnion = {
      BulkError: 'bulk-error.ts',
      ConfigurationError: 'configuration-error.ts',
      InboxError: 'inbox-error.ts',
      KeyError: 'key-error.ts',
      OrderError: 'order-error.ts',
      OtpError: 'otp-error.ts',
      RequestError: 'request-error.ts',
      SignatureError: 'signature-error.ts',
      StoreError: 'store-error.ts',
      ValidationError: 'validation-error.ts',
    } as const;
    expect(Object.values(inUnion)).toEqual(classes);
    expectTypeOf<SdkError>().toEqualTypeOf<
      | BulkError
      | ConfigurationError
      | InboxError
      | KeyError
      | OrderError
      | OtpError
      | RequestError
      | SignatureError
      | StoreError
      | ValidationError
    >();
  });

  it('are narrowed to the class by a switch over the code', () => {
    const found = kinds.map(({ own }) => {
      const error: SdkError = own;
      return classOf(error);
    });
    expect(found).toEqual(kinds.map(({ kind }) => kind));
  });

  it('share no code, but for the one that inboxes and one-time codes have: one code belongs to one class', () => {
    expectTypeOf<ConfigurationErrorCode & Exclude<SdkError, ConfigurationError>['code']>().toBeNever();
    expectTypeOf<BulkErrorCode & Exclude<SdkError, BulkError>['code']>().toBeNever();
    expectTypeOf<
      InboxErrorCode & Exclude<SdkError, InboxError>['code']
    >().toEqualTypeOf<'store_unavailable'>();
    expectTypeOf<OtpErrorCode & Exclude<SdkError, OtpError>['code']>().toEqualTypeOf<'store_unavailable'>();
    expectTypeOf<OrderErrorCode & Exclude<SdkError, OrderError>['code']>().toBeNever();
    expectTypeOf<RequestErrorCode & Exclude<SdkError, RequestError>['code']>().toBeNever();
    expectTypeOf<SignatureErrorCode & Exclude<SdkError, SignatureError>['code']>().toBeNever();
    expectTypeOf<KeyErrorCode & Exclude<SdkError, KeyError>['code']>().toBeNever();
    expectTypeOf<StoreErrorCode & Exclude<SdkError, StoreError>['code']>().toBeNever();
    expectTypeOf<'invalid_input' & Exclude<SdkError, ValidationError>['code']>().toBeNever();
  });
});

/** What matters is what `tsc` makes of each branch. */
function classOf(error: SdkError): string {
  switch (error.code) {
    case 'invalid_input':
      expectTypeOf(error).toEqualTypeOf<ValidationError>();
      return 'ValidationError';
    case 'store_unavailable':
      expectTypeOf(error).toEqualTypeOf<InboxError | OtpError>();
      return error.name;
    case 'store_full':
      expectTypeOf(error).toEqualTypeOf<InboxError>();
      return 'InboxError';
    case 'keys_unavailable':
    case 'rotation_pending':
      expectTypeOf(error).toEqualTypeOf<KeyError>();
      return 'KeyError';
    case 'in_progress':
    case 'order_refused':
      expectTypeOf(error).toEqualTypeOf<OrderError>();
      return 'OrderError';
    case 'cool_down':
    case 'not_sent':
      expectTypeOf(error).toEqualTypeOf<OtpError>();
      return 'OtpError';
    case 'no_device_left':
      expectTypeOf(error).toEqualTypeOf<BulkError>();
      return 'BulkError';
    case 'store_failed':
    case 'store_closed':
      expectTypeOf(error).toEqualTypeOf<StoreError>();
      return 'StoreError';
    case 'http_error':
    case 'timeout':
      expectTypeOf(error).toEqualTypeOf<RequestError>();
      return 'RequestError';
    case 'signature_mismatch':
    case 'signature_missing':
      expectTypeOf(error).toEqualTypeOf<SignatureError>();
      return 'SignatureError';
    case 'invalid_option':
    case 'not_configured':
      expectTypeOf(error).toEqualTypeOf<ConfigurationError>();
      return 'ConfigurationError';
    default:
      expectTypeOf(error).toEqualTypeOf<Exclude<SdkError, ValidationError>>();
      return 'another code';
  }
}
