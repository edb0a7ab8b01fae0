import { getResponse, HttpResponse, http } from 'msw';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ClientOptions } from '../../src/client/client-options.ts';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import type { RequestError } from '../../src/errors/errors.ts';
import { processorMs } from '../support/timing.ts';
import {
  apiKey,
  cautious,
  checkNumber,
  createOrder,
  credentials,
  deploymentAt,
  masterKey,
  messengerAt,
  order,
  type Run,
  requestError,
  sendMessage,
  whitelistIp,
} from './clients.ts';
import { watchRejections } from './watch-rejections.ts';

watchRejections();

const service = 'https://service.example';

/** The error of a call that the service answers so: JSON, or text where it is text. */
function errorOf(run: Run, status: number, body: string | object): Promise<RequestError> {
  return requestError(run(service, replying(status, body)));
}

function replying(status: number, body: string | object): ClientOptions {
  const reply = () =>
    typeof body === 'string' ? HttpResponse.text(body, { status }) : HttpResponse.json(body, { status });
  const handlers = [http.all('*', reply)];
  return {
    maxAttempts: 1,
    fetch: async (request) => (await getResponse(handlers, request)) ?? Response.error(),
  };
}

/** What an error quotes of the service, if anything. */
async function quoted(body: string | object, run = createOrder): Promise<string | undefined> {
  return /^\w+: the service answered \(status 422\): "([^"]*)"; it/.exec(
    (await errorOf(run, 422, body)).message,
  )?.[1];
}

describe("the message of an error quotes the service's own reason", () => {
  it.each<[string, string | object]>([
    ['message', { message: 'no such chain', error: 'unprocessable', statusCode: 422 }],
    ['error', { error: 'no such chain' }],
    ['error.message', { error: { message: 'no such chain', code: 7 } }],
    ['error_description', { error: 'invalid_request', error_description: 'no such chain' }],
    ['errors[0]', { errors: ['no such chain', 'no such pair'] }],
    ['code', { code: 'no such chain' }],
    ['a list', [{ message: 'no such chain' }]],
    ['a string', '"no such chain"'],
    ['text', 'no such chain'],
    ['a title', '<!doctype html><html><head><TITLE lang="en">\n no such chain </title></head><body>x</body>'],
    ['a page', '<html><style>h1 { color: red }</style><script>let a</script><h1>no such</h1> <p>chain'],
  ])('from %s', async (_, body) => {
    expect(await quoted(body)).toBe('no such chain');
  });

  it.each<[string, string | object]>([
    ['an empty body', ''],
    ['members that it does not know', { sorry: 'no such chain', message: { deep: 5 } }],
    [
      'errors inside errors inside errors',
      { error: { error: { error: { error: { error: { message: 'x' } } } } } },
    ],
  ])('and nothing where there is %s', async (_, body) => {
    const { message } = await errorOf(createOrder, 422, body);
    expect(message).toContain('(status 422); it did not act');
  });

  it('cut off where a cause and the link need the room, between two of its characters', async () => {
    const { message } = await errorOf(createOrder, 422, { message: `${'y '.repeat(20)}${'🚀'.repeat(200)}` });
    expect(message.length).toBeLessThanOrEqual(250);
    expect(message.isWellFormed()).toBe(true);
    expect(message).toMatch(/: "(?:y ){10,}.*…"; it did not act\. Likely: .*#http_error\.$/u);
  });

  it('as one line, without what a terminal obeys or the eye does not see', async () => {
    const message =
      'no\u001b[31m such\r\nchain\u2028\u202egnihton\u202c \u001b]8;;https://x.example\u0007link\u0000\u009b2J!\u200b\ufeff';
    expect(await quoted({ message })).toBe('no such chain gnihton link !');
  });

  it('in a way that cannot pass for our own words', async () => {
    expect(await quoted({ message: 'no"; it is safe to repeat. "' })).toBe("no'; it is safe to repeat. '");
  });

  it('in linear time, whatever it is', async () => {
    for (const part of ['<title', '<script>', '\u001b[', '{"error":[', 'authorization: ']) {
      const begun = processorMs();
      await quoted(`<html>${part.repeat(80_000)}`);
      expect(processorMs() - begun, part).toBeLessThan(2_000);
    }
  });
});

describe('the reason that an error quotes', () => {
  it.each<[secret: string, run: Run]>([
    [credentials.partnerPublicKey, createOrder],
    [credentials.partnerSecretKey, createOrder],
    [credentials.merchantSecretKey, createOrder],
    [apiKey, sendMessage],
    ['493021', sendMessage],
    [masterKey, (url, options) => messengerAt(url, options).generateApiKey({ messenger_device_no: '42' })],
  ])('does not repeat %s', async (secret, run) => {
    const split = `${secret.slice(0, 4)}\u200b${secret.slice(4)}`;
    for (const said of [secret, split, `${'x'.repeat(195)}${secret}`]) {
      const { message } = await errorOf(run, 422, { message: `no use for ${said}` });
      expect(message).not.toContain(secret.slice(0, 6));
    }
  });

  it.each<[what: string, run: Run, said: string]>([
    ['the phone number', sendMessage, 'no account for +2348012345678'],
    ['the phone number without its +', sendMessage, '2348012345678 is blocked'],
    ['the phone number of a query', checkNumber, 'no account for 2348012345678'],
    [
      'what an order says of its buyer',
      (url, options) =>
        new ExchangeClient({ deployment: deploymentAt(url), credentials, ...options }).createOrder({
          ...order,
          buyer_email: 'ada@buyer.example',
          last_name: 'Lovelace',
          refund_account: '0123456789',
        }),
      'no account 0123456789 on usdt-trc20',
    ],
  ])('is hidden whole where it repeats %s', async (_, run, said) => {
    expect(await quoted({ message: said }, run)).toBe('[redacted]');
  });

  it('hides keys and signatures that were not in the request', async () => {
    const signature = 'ab'.repeat(64);
    const message = `${signature} of API-X-other, authorization: master-1`;
    const reason = await quoted({ message }, whitelistIp);
    expect(reason).toBe('[redacted] of [redacted], authorization: [redacted]');
  });

  it("hides the values of the deployment's own headers, whatever their names", async () => {
    const deployment = deploymentAt(service, { headers: { 'x-upstream': 'gw-7712', 'x-hop': '1' } });
    const options = { deployment, credentials, ...replying(403, { message: 'gw-7712 has no route 1' }) };
    const { message } = await requestError(new ExchangeClient(options).createOrder(order));
    expect(message).toContain('(status 403): "[redacted]"; it');
  });
});

describe('a connection that could not be made', () => {
  const refused = {
    fetch: () => Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })),
  };

  it('names a proxy of the environment that the process does not use', async () => {
    const failed = () => requestError(createOrder(service, { ...refused, maxAttempts: 1 }));
    vi.stubEnv('HTTPS_PROXY', 'http://user:s3cret@proxy.example:3128');
    vi.stubEnv('NODE_USE_ENV_PROXY', '');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { code, message } = await failed();
    expect(code).toBe('connection_failed');
    expect(message).toContain('HTTPS_PROXY names a proxy that is not used: set NODE_USE_ENV_PROXY=1. See ');
    expect(message).not.toContain('s3cret');
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    expect((await failed()).message).toContain('Check the base URL, the network and the certificate. See ');
  });
});

describe('the likely causes of a refusal', () => {
  const signatureIds = [
    'signature-construction',
    'signature-serialization',
    'signature-encoding',
    'signature-key',
    'merchant-concatenation',
  ];
  const generateApiKey = cautious.find(([name]) => name === 'generateApiKey')?.[1] ?? createOrder;
  const regenerateKeys = cautious.find(([name]) => name === 'regenerateKeys')?.[1] ?? createOrder;

  it.each<[run: Run, status: number, ids: string[], likeliest: RegExp]>([
    [
      createOrder,
      403,
      [...signatureIds, 'ip-whitelist', 'key-lifetime', 'several-merchants', 'order-partner-id'],
      /^another signature \(learn\); or an IP that is not whitelisted$/,
    ],
    [regenerateKeys, 401, [...signatureIds, 'ip-whitelist', 'key-lifetime'], /^another signature .* IP/],
    [whitelistIp, 403, ['key-lifetime'], /^partnerPublicKey is not known$/],
    [generateApiKey, 401, [], /^masterKey is not known$/],
    [sendMessage, 401, [], /^the API key is not known$/],
    [generateApiKey, 409, [], /^the device number has a key already$/],
    [sendMessage, 409, [], /^the device is not connected$/],
    [sendMessage, 422, ['otp-refusal', 'verify-check'], /^to_phone is not on the messenger; or verify_check/],
    [checkNumber, 400, ['otp-refusal', 'number-check'], /^to_phone .*; or other names in the query$/],
    [
      createOrder,
      400,
      [
        'order-payload',
        ...signatureIds,
        'allowed-values',
        'several-merchants',
        'order-conflict',
        'partner-order-id',
      ],
      /^other members are wanted \(orderSchema\); or another signature \(learn\)$/,
    ],
    [generateApiKey, 400, ['branded-names'], /wireNames/],
    [createOrder, 404, ['order-path'], /^another address \(onboardingBaseUrl, paths\.createOrder\)$/],
    [sendMessage, 404, [], /messengerBaseUrl/],
    [createOrder, 423, ['order-conflict', 'partner-order-id'], /orderStatuses/],
    [sendMessage, 429, ['request-limits'], /^too many requests$/],
  ])('of %s follow from the operation and the status %i: %j', async (run, status, ids, likeliest) => {
    const error = await errorOf(run, status, '');
    const [, words] = /Likely: (.*?)\. See /.exec(error.message) ?? [];
    expect(words).toMatch(likeliest);
    expect(error.assumptions).toEqual(ids);
  });

  it.each([
    { error: 'NUMBER_NOT_ON_MESSENGER' },
    { error: { code: 'unknownPhone' } },
    { message: 'no account for the phone number 2348012345678' },
  ])('are the recipient where a 404 names it, which codes depend on: %j', async (body) => {
    expect((await errorOf(sendMessage, 404, body)).assumptions).toEqual(['otp-refusal']);
  });

  it('are none where the status says nothing', async () => {
    const error = await errorOf(createOrder, 500, 'Internal Server Error');
    expect(error.assumptions).toEqual([]);
    expect(error.message).not.toContain('Likely');
  });

  it('leave room for the beginning of the reason, in at most 250 characters', async () => {
    for (const [run, status] of [
      [createOrder, 401],
      [createOrder, 409],
      [sendMessage, 422],
    ] as const) {
      const { message } = await errorOf(run, status, { error: `no such thing ${'x '.repeat(150)}` });
      expect(message.length, message).toBeLessThanOrEqual(250);
      expect(message).toMatch(/: "no such thing x .*…"; it .* Likely: .* See \S+errors\.md#http_error\.$/);
    }
  });
});
