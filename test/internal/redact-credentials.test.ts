import { expect, it } from 'vitest';
import { redactCredentials } from '../../src/internal/redact-credentials.ts';
import { timeOf } from '../support/timing.ts';

const names = [
  'authorization',
  'Proxy-Authorization',
  'x-api-key',
  'api_key',
  'apiKey',
  'x-gateway-key',
  'masterKey',
  'partnerSecretKey',
  'x-password',
  'passwd',
  'PGPASSWORD',
  'pwd',
  'x-credential',
  'session',
  'sessionId',
  'x-session-token',
  'cookie',
  'set-cookie',
  'x-auth',
  'client_secret',
  'signature',
  'passphrase',
];

it.each(names)('hides the value of %s, however it is written', (name) => {
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
])('keeps of %j what is no credential', (text, shown) => {
  expect(redactCredentials(text)).toBe(shown);
});

it.each([
  'duplicate key value violates unique constraint "orders_pkey"',
  'The signature does not match.',
  'author: Ada',
  'order A-1001 at https://service.example/api/v1/orders',
  'hash 0x9f2c4b7e9f2c4b7e9f2c4b7e9f2c4b7e9f2c4b7e9f2c4b7e9f2c4b7e9f2c4b7e',
])('leaves %j as it is', (text) => {
  expect(redactCredentials(text)).toBe(text);
});

it('takes linear time', () => {
  for (const part of [
    'x-password',
    'a-',
    '"token":',
    "key='",
    '\\"secret\\"',
    'auth: ',
    'A',
    'A=',
  ] as const) {
    expect(
      timeOf(() => redactCredentials(part.repeat(20_000))),
      part,
    ).toBeLessThan(1_000);
  }
});
