import { createServer } from 'node:https';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { AttackResult } from '../../../../src/devtools/diagnostics/attack/attack-case.ts';
import type { AttackOptions } from '../../../../src/devtools/diagnostics/attack/attack-options.ts';
import { attackReceiver } from '../../../../src/devtools/diagnostics/attack/attack-receiver.ts';
import { isConfigurationError } from '../../../../src/errors/errors.ts';
import { type VerifyOptions, verifyBody } from '../../../../src/signature/verify-body.ts';
import { orderKey } from '../../../support/bodies.ts';
import { listening } from '../../../support/listening.ts';
import { closedUrl, startServer } from '../../../support/local-server.ts';
import { nextTurn } from '../../../support/next-turn.ts';
import { selfSigned } from '../../../support/self-signed.ts';
import { credentials } from '../../../webhooks/deliveries.ts';
import { startReceiver } from './broken-receivers.ts';

/** Fails the test if anything is sent. */
const noFetch: typeof fetch = async (url) => {
  throw new Error(`fetched ${url}`);
};

describe('attackReceiver refuses, before anything is sent,', () => {
  const own = 'https://partner.example/orders';
  it.each<[string, string, Partial<AttackOptions>, RegExp]>([
    ['another machine', own, {}, /partner\.example is another one.*iOwnThisHost: 'partner\.example'/],
    ['another machine than the named one', own, { iOwnThisHost: 'partner.exampl' }, /does not name the host/],
    ['a domain above the host', own, { iOwnThisHost: 'example' }, /does not name the host/],
    ['a name that only begins like this machine', 'http://localhost.example/', {}, /is another one/],
    ['a name below localhost', 'http://receiver.localhost/', {}, /is another one/],
    ['a name that may resolve to this machine', 'http://127.0.0.1.nip.io/', {}, /is another one/],
    ['all addresses of this machine', 'http://0.0.0.0/', {}, /is another one/],
    ['a host in the credentials of the URL', 'http://127.0.0.1@partner.example/', {}, /must not hold/],
    ['credentials in the URL', 'http://user:word@127.0.0.1/', {}, /must not hold credentials/],
    ['another protocol', 'ftp://127.0.0.1/', {}, /http: or https:/],
    ['a relative URL', '/orders', {}, /absolute URL/],
    ['true for a host', own, { iOwnThisHost: Object(true) }, /iOwnThisHost must be a text/],
    ['a misspelt option', own, Object({ credentails: 1 }), /Did you mean "credentials"/],
    ['a misspelt case', 'http://localhost/', { only: ['unsinged'] }, /Did you mean "unsigned"/],
    ['a misspelt case to skip', 'http://localhost/', { skip: ['replaid'] }, /Did you mean "replayed"/],
    ['an order without an id', 'http://localhost/', { order: Object({}) }, /order\.partner_order_id/],
    ['no time', 'http://localhost/', { timeoutMs: 0 }, /timeoutMs/],
    ['a signal that is none', 'http://localhost/', { signal: Object({}) }, /AbortSignal/],
    ['no credentials', 'http://localhost/', { credentials: Object(undefined) }, /partnerPublicKey/],
    ['swapped keys', 'http://localhost/', { credentials: swapped() }, /swapped/],
  ])('%s', async (_, url, options, message) => {
    const refusal = await attackReceiver(url, { credentials, fetch: noFetch, ...options }).catch(
      (error: unknown) => error,
    );
    expect(isConfigurationError(refusal)).toBe(true);
    expect(String(refusal)).toMatch(message);
  });

  it.each([
    ['http://LOCALHOST/', {}],
    ['http://127.1/', {}],
    ['http://[::1]/', {}],
    ['https://partner.example/orders', { iOwnThisHost: 'partner.example' }],
    ['https://Partner.Example:8443/', { iOwnThisHost: 'PARTNER.example:8443' }],
  ])('but not %s', async (url, options) => {
    const { results } = await attackReceiver(url, { credentials, fetch: noFetch, only: [], ...options });
    expect(results).toMatchObject([{ id: 'authentic', verdict: 'broken' }]);
  });
});

describe('attackReceiver', () => {
  it.each<[string, number, RegExp]>([
    ['refuses the credentials', 401, /same credentials.*explainMismatch/],
    ['is not at this URL', 404, /URL to which the receiver takes POST/],
    ['redirects', 308, /give the one that it leads to/],
    ['fails', 500, /see its log/],
  ])('skips everything after a receiver that %s, and says why', async (_, status, advice) => {
    const target = await startServer({ status: 200 });
    const server = await startServer({ status, headers: { location: target.url } });
    const { results, findings } = await attackReceiver(server.url, { credentials });
    const [first, ...others] = results;
    expect(first).toMatchObject({ id: 'authentic', verdict: 'broken', answered: String(status) });
    expect(first?.advice).toMatch(advice);
    expect(new Set(others.map(({ verdict }) => verdict))).toEqual(new Set(['skipped']));
    expect(others.length).toBeGreaterThan(50);
    expect(findings).toMatchObject([{ id: 'authentic', verdict: 'broken', cases: ['authentic'] }]);
    // It is tried again with another event, and only a refusal is looked into.
    if (status !== 401) expect(server.requests).toHaveLength(status === 404 ? 2 : 4);
    expect(target.requests).toHaveLength(0);
  });

  it.each<[string, VerifyOptions, string]>([
    [
      'the partner secret alone',
      { key: credentials.partnerSecretKey },
      'verifies with the partner secret alone, and so refuses authentic deliveries',
    ],
    [
      'the secrets in the wrong order',
      { key: `${credentials.partnerSecretKey}${credentials.merchantSecretKey}` },
      'verifies with the two secrets in the wrong order, and so refuses authentic deliveries',
    ],
    [
      'another encoding',
      { key: orderKey, scheme: { construction: 'hmac', serialization: 'as-sent', encoding: 'base64' } },
      'verifies under another scheme, whose encoding is base64',
    ],
    [
      'another construction',
      { key: orderKey, scheme: { construction: 'hash-suffix', serialization: 'as-sent', encoding: 'hex' } },
      'verifies under another scheme, whose construction is hash-suffix',
    ],
    ['a key that nobody knows', { key: 'unknown' }, 'refuses an authentic delivery, as plain as can be'],
  ])(
    'says of a receiver that refuses authentic deliveries that it verifies with %s',
    async (_, verify, what) => {
      const { findings } = await attackReceiver('http://localhost/', {
        credentials,
        async fetch(_, init) {
          try {
            verifyBody(String(init?.body), verify);
            return new Response();
          } catch {
            return new Response(null, { status: 401 });
          }
        },
      });
      expect(findings).toMatchObject([{ id: 'authentic', verdict: 'broken', what }]);
    },
  );

  it('says that nothing listens, and judges nothing', async () => {
    const url = new URL(await closedUrl());
    const reported: AttackResult[] = [];
    const attack = attackReceiver(url, { credentials, onCase: (result) => reported.push(result) });
    const refusal: unknown = await attack.catch((error: unknown) => error);
    expect(isConfigurationError(refusal)).toBe(true);
    expect(String(refusal)).toContain(
      `Nothing listens at ${url.host} (ECONNREFUSED), so nothing was sent. Start the receiver, or check the URL.`,
    );
    expect(reported).toEqual([]);
  });

  it.each([
    ['ENOTFOUND', /No address is known for receiver\.test \(ENOTFOUND\)/],
    ['ConnectionRefused', /Nothing listens at receiver\.test \(ConnectionRefused\)/],
    ['UND_ERR_CONNECT_TIMEOUT', /No connection could be made to receiver\.test/],
  ])('says what is wrong with the address after %s', async (code, message) => {
    const fetch = () => Promise.reject(Object.assign(new TypeError('fetch failed'), { code }));
    const attack = attackReceiver('http://receiver.test/', {
      ...{ credentials, fetch, iOwnThisHost: 'receiver.test' },
    });
    await expect(attack).rejects.toThrow(message);
  });

  it('marks the delivery after which the receiver is gone, and skips what comes after', async () => {
    await using receiver = await startReceiver({
      before: (text, { crash }) => (text === 'null' ? crash() : undefined),
    });
    const only = ['not-json', 'wrong-type', 'invalid-utf-8'];
    const { results } = await attackReceiver(receiver.url, { credentials, timeoutMs: 1000, only });
    const at = results.findIndex(({ id }) => id === 'wrong-type');
    expect(results[at]).toMatchObject({ verdict: 'broken', advice: expect.stringMatching(/crashed/) });
    expect(results[at + 1]).toMatchObject({
      verdict: 'skipped',
      answered: 'the receiver does not answer any more since wrong-type',
    });
  });

  it('runs only the named cases, after the authentic delivery, and reports each as it comes', async () => {
    await using receiver = await startReceiver();
    const reported: AttackResult[] = [];
    const progress: unknown[] = [];
    let [running, mostAtOnce] = [0, 0];
    const { results } = await attackReceiver(receiver.url, {
      credentials,
      only: ['forged', 'unsigned', 'not-json'],
      skip: ['not-json'],
      async onCase(result, { done, left }) {
        mostAtOnce = Math.max(mostAtOnce, ++running);
        await nextTurn();
        reported.push(result);
        progress.push([done, left]);
        running--;
      },
    });
    expect(results.map(({ id }) => id)).toEqual(['authentic', 'unsigned', 'forged']);
    expect(reported).toEqual(results);
    expect(progress).toEqual([
      [1, 2],
      [2, 1],
      [3, 0],
    ]);
    expect(mostAtOnce).toBe(1);
  });

  it('rejects with what onCase rejects with', async () => {
    await using receiver = await startReceiver();
    const onCase = async () => {
      throw new Error('the log is full');
    };
    const attacking = attackReceiver(receiver.url, { credentials, only: ['unsigned'], onCase });
    await expect(attacking).rejects.toThrow('the log is full');
  });

  it('skips what only the code of the receiver knows, without `handled`', async () => {
    await using receiver = await startReceiver();
    const only = effectCases;
    const { results } = await attackReceiver(receiver.url, { credentials, only });
    expect(results.slice(1).map(({ id, verdict }) => `${id} ${verdict}`)).toEqual(
      effectCases.map((id) => `${id} skipped`),
    );
    expect(results[1]?.answered).toMatch(/give `handled`/);
  });

  it('judges no effects of a receiver that does nothing about authentic deliveries', async () => {
    await using receiver = await startReceiver({ act: () => {} });
    const { handled, fetch } = receiver;
    const { results } = await attackReceiver(receiver.url, {
      // real time: nothing ends before it: a busy machine only makes it later.
      ...{ credentials, fetch, handled, effectTimeoutMs: 100 },
      only: effectCases,
    });
    expect(results[0]).toMatchObject({ verdict: 'broken', answered: '200, and nothing was done' });
    expect(new Set(results.slice(1).map(({ verdict }) => verdict))).toEqual(new Set(['skipped']));
    expect(results[1]?.answered).toMatch(/had no effect/);
  });

  it('says in one line each what is wrong, the worst first', async () => {
    await using receiver = await startReceiver({
      verify: (text) => verifyBody(text, { key: [orderKey, credentials.partnerSecretKey] }).value,
      decode: (body) => body.toString(),
    });
    const { fetch } = receiver;
    const only = ['unsigned', 'key-partner-alone', 'invalid-utf-8'];
    const { findings } = await attackReceiver(receiver.url, { credentials, fetch, only });
    expect(findings.map(({ verdict, what, cases }) => ({ verdict, what, cases }))).toEqual([
      {
        verdict: 'broken',
        what: 'verifies with the partner secret alone',
        cases: ['key-partner-alone'],
      },
      {
        verdict: 'weak',
        what: 'takes other bytes for the signed text: it does not decode as strict UTF-8',
        cases: ['invalid-utf-8'],
      },
    ]);
  });

  it.each([
    ['states nothing of a connection that is closed twice', 2, []],
    ['states that a connection is closed each time', 3, [{ id: 'not-json', verdict: 'broken' }]],
  ])('%s', async (_, times, expected) => {
    let closed = 0;
    const { findings } = await attackReceiver('http://localhost/', {
      credentials,
      only: ['not-json'],
      async fetch(_url, init) {
        if (init?.body === '' && closed++ < times) throw new TypeError('fetch failed');
        return new Response(null, { status: String(init?.body).endsWith('"}') ? 200 : 401 });
      },
    });
    expect(findings).toMatchObject(expected);
  });

  it('takes 429 for no answer to the question', async () => {
    const server = await startServer({ status: 200 }, { status: 429 });
    const { results } = await attackReceiver(server.url, {
      ...{ credentials, timeoutMs: 1_000 },
      only: ['unsigned', 'forged'],
    });
    expect(results.slice(1)).toMatchObject([
      { verdict: 'skipped', answered: expect.stringMatching(/rate limit/) },
      { verdict: 'skipped' },
    ]);
  });

  it('takes a redirect for a weak refusal, and does not follow it', async () => {
    const target = await startServer({ status: 200 });
    const redirect = { status: 302, headers: { location: target.url } };
    const server = await startServer({ status: 200 }, redirect);
    const { results } = await attackReceiver(server.url, { credentials, only: ['unsigned'] });
    expect(results[1]).toMatchObject({ verdict: 'weak', answered: '302' });
    expect(target.requests).toHaveLength(0);
  });

  it('stops when the signal is aborted, with its reason, also while it waits for an answer', async () => {
    const controller = new AbortController();
    const server = await startServer({ status: 200 }, () => controller.abort(new Error('enough')));
    const attack = attackReceiver(server.url, { credentials, signal: controller.signal });
    await expect(attack).rejects.toThrow('enough');
    expect(server.requests).toHaveLength(2);
  });

  it('sends events that say they are probes, as the service sends them', async () => {
    const server = await startServer({ status: 200 });
    await attackReceiver(server.url, { credentials, only: [] });
    const [request] = server.requests;
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      authorization: 'Bearer pk_partner_test1',
    });
    expect(JSON.parse(String(request?.body))).toMatchObject({
      event_name: 'event.buy.init',
      partner_order_id: expect.stringMatching(/^probe-1-[0-9a-f]{8}$/),
      fiat_payment_status: 'PENDING',
      signature: expect.stringMatching(/^[0-9a-f]{128}$/),
    });
  });

  it('shows no secret and no signature, whatever the receiver answers', async () => {
    const secrets = [credentials.partnerSecretKey, String(credentials.merchantSecretKey)];
    await using receiver = await startReceiver({
      refuse: (_, text) => [401, `${secrets.join(' ')} ${text}`],
    });
    const { fetch } = receiver;
    const only = ['unsigned', 'forged', 'altered-amount', 'discloses-signature'];
    const { results } = await attackReceiver(receiver.url, { credentials, fetch, only });
    const shown = inspect(results, { depth: 9 });
    for (const secret of secrets) expect(shown).not.toContain(secret);
    expect(shown).not.toMatch(/[0-9a-f]{64}/);
  });

  it('does not trust a certificate that nobody vouches for', async () => {
    const server = createServer(selfSigned(), (_, response) => response.end());
    const url = await listening(server, 'https');
    const { results } = await attackReceiver(`${url}/`, { credentials, only: [] });
    server.close();
    expect(results[0]).toMatchObject({
      verdict: 'broken',
      answered: expect.stringMatching(/closed without an answer \(\w*(?:CERT|TLS)\w*\)/),
    });
  });
});

const effectCases = [
  'order-id-case',
  'order-id-length',
  'handled-after-forged-close',
  'acted-before-verification',
];

function swapped() {
  return { ...credentials, partnerSecretKey: credentials.partnerPublicKey };
}
