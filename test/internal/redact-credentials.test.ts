import { describe, expect, it } from 'vitest';
import { redactCredentials, redactQuote } from '../../src/internal/redact-credentials.ts';
import { timeOf } from '../support/timing.ts';

const names = [
  ...['authorization', 'x-api-key', 'api_key', 'masterKey', 'PGPASSWORD', 'x-credential', 'session'],
  ...['cookie', 'x-auth', 'client_secret', 'signature', 'passphrase'],
];

it.each(names)('redaction hides the value of %s, however it is written', (name) => {
  const value = 'v4lue';
  const written = [
    `${name}: ${value}`,
    `${name}:${value}`,
    `${name}=${value}`,
    `${name} = '${value}'`,
    `{"${name}":"${value}"}`,
    `{ "${name}" : "a \\"quoted\\" ${value}" }`,
    `{\\"${name}\\": \\"${value}\\"}`,
    `{ '${name}': '${value}' }`,
    `["${name}","${value}"]`,
    `[ '${name}', '${value}' ]`,
    `GET / HTTP/1.1\r\n${name}: ${value}\r\nhost: a.example`,
  ];
  expect(written.map(redactCredentials).filter((shown) => shown.includes(value))).toEqual([]);
});

it.each([
  ['authorization: master-1 extra', 'authorization: [redacted]'],
  ['cookie: a=1; b=2\nhost: a.example', 'cookie: [redacted]\nhost: a.example'],
  ['{"password":"a, b","user":"ada"}', '{"password":"[redacted]","user":"ada"}'],
  ['token: abc, then more', 'token: [redacted], then more'],
  ['with Bearer abc.def and Basic eHl6', 'with Bearer [redacted] and Basic [redacted]'],
  ['unknown key pk_partner_4f1d20!', 'unknown key [redacted]!'],
])('redaction keeps of %j what is no credential', (text, shown) => {
  expect(redactCredentials(text)).toBe(shown);
});

it.each([
  'duplicate key value violates unique constraint "orders_pkey"',
  'The signature does not match.',
  'author: Ada',
  'order A-1001 at https://service.example/api/v1/orders',
  'hash 0x9f2c4b7e9f2c4b7e9f2c4b7e9f2c4b7e9f2c4b7e9f2c4b7e9f2c4b7e9f2c4b7e',
])('redaction leaves %j as it is', (text) => {
  expect(redactCredentials(text)).toBe(text);
});

describe('a quote is hidden whole that holds', () => {
  it.each([
    ['a link of one time', 'open https://service.example/reset/3f9c now'],
    ['one in HTML', '<p>Open <a href="https://service.example/onboarding/one-time/3f9c">this</a></p>'],
    ['one in JSON inside of JSON', '{\\"url\\":\\"https:\\\\/\\\\/service.example\\\\/reset\\\\/3f9c\\"}'],
    ['one that is encoded', 'next=https%3A%2F%2Fservice.example%2Freset%2F3f9c'],
    ['one that only a token tells', 'see https://service.example/l/9f2c4b7e9f2c4b7e9f2c'],
    ['a key in a sentence', 'Your secret key is k3yMaterial'],
    ['a key behind a colon', 'New password: hunter22'],
    ['the password of an address with a slash', 'connect amqp://app:a/b@queue failed'],
    ['the password of an address', 'connect postgres://app:s3cret@db:5432/orders failed'],
    ['a user and a password without a scheme', 'cannot reach app:s3cret@queue:5672'],
  ])('%s', (_, text) => {
    expect(redactQuote(text)).toBe('[redacted]');
  });
});

it.each([
  'The public key is invalid.',
  'The secret key is required: set it.',
  'A link was sent to dev@acme.example.',
  'Send it to:dev@acme.example',
  'The request POST /api/v1/no-auth/PartnerP2P/OnboardPartner/ was refused',
  'order A-1001 at https://service.example/api/v1/orders',
  'Error at run (file:///app/node_modules/.pnpm/pg@8.0.3/node_modules/pg/index.js:12:5)',
  'This partner_code is registered: regenerate its keys instead.',
])('a quote of %j is as it is', (text) => {
  expect(redactQuote(text)).toBe(text);
});

it.each(['x-password', '"token":', 'auth: ', 'A=', '/', '://', ':a', '@', 'key is ', 'https://a', '/reset'])(
  'redaction takes linear time over %j',
  (part) => {
    const long = part.repeat(20_000);
    expect(timeOf(() => [redactCredentials(long), redactQuote(long)])).toBeLessThan(2_000);
  },
);
