import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { ObservedAttempt, ObservedResponse } from '../../src/client/client-options.ts';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import type { MessengerClient } from '../../src/client/messenger-client.ts';
import { signBody } from '../../src/signature/sign-body.ts';
import { startServer } from '../support/local-server.ts';
import {
  apiKey,
  cautious,
  credentials,
  deploymentAt,
  exchangeAt,
  harmless,
  masterKey,
  message,
  messengerAt,
  order,
  type Run,
  requestError,
} from './clients.ts';
import { watchRejections } from './watch-rejections.ts';

watchRejections();

/** What must not show anywhere. */
const secrets = [
  credentials.partnerPublicKey,
  credentials.partnerSecretKey,
  credentials.merchantSecretKey,
  apiKey,
  masterKey,
  message.message,
  '493021',
  // Only a message with quotes has its JSON form differ from its own.
  'a "quoted" word',
  encodeURIComponent(apiKey),
];

const operations: [string, Run][] = [
  ...cautious,
  ...harmless,
  [
    'sendMessage with quotes',
    (url, options) => messengerAt(url, options).sendMessage({ ...message, message: 'a "quoted" word' }),
  ],
];

describe.each(operations)('no secret shows after %s', (_, run) => {
  it('in the error of a reply that repeats the request', async () => {
    const server = await startServer((response, { url, headers, body }) => {
      response.writeHead(500).end(`${url} ${headers.authorization} ${body}`);
    });
    expect(leaks(await requestError(run(server.url)))).toEqual([]);
  });

  it('when the transport quotes header, address and body in its error', async () => {
    let signature = '';
    const hostile = async (request: Request) => {
      const body = await request.clone().text();
      signature = /"signature":"([^"]+)"/.exec(body)?.[1] ?? '';
      const said = `${request.headers.get('authorization')} ${request.url} ${body}`;
      const cause = Object.assign(new Error(`body was ${JSON.stringify(body)}`), { request, body });
      throw Object.assign(new Error(said, { cause }), {
        name: `Error about ${said}`,
        code: `E_${request.headers.get('authorization')}`,
        request,
        body,
      });
    };
    const error = await requestError(run('http://127.0.0.1:9', { fetch: hostile }));
    expect(leaks(error, [signature])).toEqual([]);
    expect(error.cause).toBeInstanceOf(Error);
  });

  it('in what the observers see', async () => {
    const seen: (ObservedAttempt | ObservedResponse)[] = [];
    const observe = (observation: ObservedAttempt | ObservedResponse) => seen.push(observation);
    const server = await startServer((response, { url, headers }) => {
      const location = `https://elsewhere.example${url}`;
      const echo = headers.authorization ?? 'nothing';
      response.writeHead(301, { location, 'x-echo': echo, 'set-cookie': 'session=abc' }).end();
    });
    await requestError(run(server.url, { onRequest: observe, onResponse: observe }));
    expect(seen).toHaveLength(2);
    expect(leaks(seen, ['session=abc', '2348012345678'])).toEqual([]);
  });
});

describe('what a key looks like does not matter', () => {
  const odd = "API+X/51~e0!c2'(x)*%=";

  it('to the address in an error', async () => {
    const hostile = (request: Request) => Promise.reject(new Error(new URL(request.url).search));
    const client = messengerAt('http://127.0.0.1:9', { fetch: hostile });
    const error = await requestError(client.checkNumber({ to_phone: '2348012345678', api_key: odd }));
    const query = new URLSearchParams({ api_key: odd }).toString();
    expect(leaks(error, [odd, encodeURIComponent(odd), query])).toEqual([]);
  });
});

it('an error hides what the headers of the deployment hold', async () => {
  const deployment = deploymentAt('http://127.0.0.1:9', { headers: { 'x-gateway-key': 'gw-771' } });
  const hostile = (request: Request) => Promise.reject(new Error(JSON.stringify([...request.headers])));
  const client = new ExchangeClient({ deployment, credentials, fetch: hostile });
  expect(leaks(await requestError(client.createOrder(order)), ['gw-771'])).toEqual([]);
});

it('an aborted call hides secrets in the reason', async () => {
  const signal = AbortSignal.abort(new Error(`stopped ${credentials.partnerSecretKey}`));
  expect(leaks(await requestError(exchangeAt('http://127.0.0.1:9').createOrder(order, { signal })))).toEqual(
    [],
  );
});

it('a schema that throws the reply back hides what was sent', async () => {
  const server = await startServer((response, { body }) => {
    response.end(body);
  });
  const validate = (value: unknown): never => {
    throw new Error(JSON.stringify(value));
  };
  const schema = { '~standard': { version: 1, vendor: 'test', validate } } as const;
  const error = await requestError(exchangeAt(server.url).createOrder(order, { schema }));
  const { signature } = signBody(order, {
    key: credentials.merchantSecretKey + credentials.partnerSecretKey,
  });
  expect(leaks(error, [signature])).toEqual([]);
});

describe.each([
  ['ExchangeClient', exchangeAt('http://127.0.0.1:9')],
  ['MessengerClient', messengerAt('http://127.0.0.1:9')],
] as [string, ExchangeClient | MessengerClient][])('%s keeps its secrets', (_, client) => {
  it.each<[string, (client: object) => unknown]>([
    ['inspected', (it) => inspect(it, { depth: null, showHidden: true })],
    ['turned to JSON', (it) => JSON.stringify({ it })],
    ['spread', (it) => inspect({ ...it }, { showHidden: true, depth: null })],
    ['cloned', (it) => inspect(structuredClone(it), { showHidden: true, depth: null })],
  ])('when it is %s', (_, show) => {
    expect(leaks(show(client))).toEqual([]);
  });
});

/** The secrets that a value gives away in any of the ways in which it may be printed. */
function leaks(value: unknown, further: string[] = []): string[] {
  const printed = prints(value).join('\n');
  return [...secrets, ...further].filter((secret) => secret !== '' && printed.includes(secret));
}

function prints(value: unknown): string[] {
  const shown = [inspect(value, { depth: null }), JSON.stringify(value) ?? '', String(value)];
  if (!(value instanceof Error)) return shown;
  return [...shown, value.message, value.stack ?? '', value.name, ...prints(value.cause)];
}
