import { getResponse, http } from 'msw';
import { describe, expect, it } from 'vitest';
import { ExchangeClient } from '../../../src/client/exchange-client.ts';
import { MessengerClient } from '../../../src/client/messenger-client.ts';
import { type DeploymentOptions, defineDeployment } from '../../../src/deployment/define-deployment.ts';
import { createSandbox } from '../../../src/devtools/sandbox/create-sandbox.ts';
import type { Sandbox } from '../../../src/devtools/sandbox/sandbox.ts';
import { type MswHandlersOptions, mswHandlers } from '../../../src/devtools/testing/msw-handlers.ts';
import { ContractCheck } from '../../contract/contract-check.ts';
import { refusal } from '../../support/refusal.ts';
import { order, partner } from '../sandbox/support.ts';

const urls = {
  onboardingBaseUrl: 'https://exchange.example/api.v2/(beta)',
  stagingUrl: 'https://staging.example',
  messengerBaseUrl: 'https://messenger.example:8443',
};
const shared = {
  wireNames: {
    platform_order_ref: 'acme_ref',
    messenger_device_no: 'acme_device',
    'connect-msg': 'connect-acme',
  },
  signature: { construction: 'hash-suffix', serialization: 'php', encoding: 'base64' },
} as const satisfies DeploymentOptions;
const contract = new ContractCheck();
const paths = { checkNumber: '/numbers/check', createOrder: '/orders' };

/** The handlers, and what answers a request by them. */
function handle(sandbox: Pick<Sandbox, 'deployment' | 'fetch'>, options: MswHandlersOptions = {}) {
  const handlers = mswHandlers(http, sandbox, options);
  return { length: handlers.length, respond: (request: Request) => getResponse(handlers, request) };
}

describe('mswHandlers', () => {
  /** A sandbox behind handlers, and a fetch that they answer. */
  function served(played: DeploymentOptions = {}, deployment?: ReturnType<typeof defineDeployment>) {
    const sandbox = createSandbox({ fetch: async () => new Response(), deployment: played });
    const { respond, length } = handle(sandbox, { deployment });
    const fetch = async (request: Request) => (await respond(request)) ?? expect.unreachable();
    return { sandbox, fetch, length, deployment: deployment ?? sandbox.deployment };
  }

  it.each([
    ['at its own addresses', {}, undefined],
    [
      'at those of a custom deployment, with paths, names and scheme of its own',
      { ...shared, paths: { checkNumber: '/check' } },
      defineDeployment({ ...urls, ...shared, paths }),
    ],
  ] as const)('answers every operation from the sandbox, %s', async (_where, played, own) => {
    const { sandbox, fetch, deployment, length } = served(
      { paths: { checkNumber: '/check' }, ...played },
      own,
    );
    expect(length).toBe(9);

    await new ExchangeClient({ deployment, fetch }).onboard(partner);
    const link = sandbox.emails.at(-1)?.link ?? '';
    expect(new URL(link).origin).toBe(new URL(deployment.onboardingBaseUrl ?? '').origin);
    const credentials = await (await fetch(new Request(link))).json();
    const exchange = new ExchangeClient({ deployment, credentials, fetch });
    await exchange.whitelistIp();
    await exchange.createOrder(order);
    expect(sandbox.orders).toMatchObject([
      { partner_order_id: order.partner_order_id, fiat_amount: '15000.50' },
    ]);
    await exchange.regenerateKeys(partner);
    expect(sandbox.emails).toHaveLength(2);

    const { masterKey } = sandbox;
    const messenger = new MessengerClient({ deployment, masterKey, fetch });
    const { body } = await messenger.generateApiKey({ messenger_device_no: '7' });
    const { api_key: apiKey } = body as { api_key: string };
    const device = new MessengerClient({ deployment, apiKey, fetch });
    expect((await fetch(new Request(device.scanDeviceUrl()))).status).toBe(200);
    await device.checkNumber({ to_phone: '+2348012345678' });
    await device.sendMessage({ to_phone: '+2348012345678', message: 'Your code: 1234' });
    expect(sandbox.messages).toMatchObject([{ to_phone: '+2348012345678' }]);
    const problems = sandbox.trace.entries.flatMap(({ kind, operation = '', body }) =>
      kind === 'request' && body ? [contract.problems(operation, JSON.parse(body))] : [],
    );
    // Under other names nothing is as published.
    if (own === undefined) expect(problems).toEqual(Array(6).fill([]));
  });

  it('leaves every other address unhandled: another slash, case, method, host, or a longer path', async () => {
    const { respond } = handle(createSandbox({ deployment: { paths } }), {
      deployment: defineDeployment({ ...urls, paths: { ...paths, onboard: '/a+b/:id/*' } }),
    });
    const at = async (url: string, method = 'POST') =>
      (await respond(new Request(url, { method, ...(method === 'POST' && { body: '{}' }) }))) !== undefined;
    const base = urls.onboardingBaseUrl;
    expect(await at(`${base}/orders`)).toBe(true);
    expect(await at(`${base}/a+b/:id/*`)).toBe(true);
    for (const url of [
      `${base}/orders/`,
      `${base}/Orders`,
      `${base}/a+b/7/8`,
      'https://exchange.example/apixv2/(beta)/orders',
      `https://other.example/?u=${base}/orders`,
      `https://other.example/${base}/orders`,
    ]) {
      expect([url, await at(url)]).toEqual([url, false]);
    }
    expect(await at(`${base}/orders`, 'GET')).toBe(false);
  });

  it('has handlers for what the deployment has base URLs and paths of', () => {
    const messengerOnly = defineDeployment({ messengerBaseUrl: urls.messengerBaseUrl });
    expect(served({}, messengerOnly).length).toBe(3);
    expect(served({}, defineDeployment({})).length).toBe(0);
    // The sandbox's own has no path for the number check.
    expect(served().length).toBe(8);
  });

  it('passes on what fetch has decompressed as it is', async () => {
    const sandbox = createSandbox();
    sandbox.faults.plan('whitelistIp', 'gzip');
    const url = `${sandbox.deployment.stagingUrl}/test-ip-connection/`;
    const response = await handle(sandbox).respond(new Request(url, { method: 'POST' }));
    expect(response?.headers.has('content-encoding')).toBe(false);
    expect(await response?.json()).toMatchObject({ ip: '127.0.0.1' });
  });

  it('passes on what was posted, byte by byte, and makes a broken connection of an error', async () => {
    const { deployment } = createSandbox();
    const seen: Request[] = [];
    const fetch = async (input: string | URL | Request, init?: RequestInit) => {
      seen.push(new Request(input, init));
      throw new TypeError('reset');
    };
    const bytes = Uint8Array.of(0, 255, 128, 10);
    const response = await handle({ deployment, fetch }).respond(
      new Request(`${deployment.stagingUrl}/test-ip-connection/?a=1`, {
        method: 'POST',
        body: bytes,
        headers: { 'x-a': 'b' },
      }),
    );
    expect(response?.type).toBe('error');
    const [request] = seen;
    expect(request?.url).toBe(`${deployment.stagingUrl}/test-ip-connection/?a=1`);
    expect(request?.headers.get('x-a')).toBe('b');
    expect(new Uint8Array((await request?.arrayBuffer()) ?? new ArrayBuffer())).toEqual(bytes);
  });

  it('refuses a path that the sandbox does not have, and wrong arguments', () => {
    const sandbox = createSandbox();
    const wrong = [
      () => handle(sandbox, { deployment: defineDeployment({ ...urls, paths }) }),
      // @ts-expect-error no sandbox
      () => handle({}),
      // @ts-expect-error not the http of msw
      () => mswHandlers({}, sandbox),
      // @ts-expect-error not made by defineDeployment
      () => handle(sandbox, { deployment: urls }),
    ];
    expect(wrong.map(refusal)).toEqual([
      'ConfigurationError not_configured',
      'ConfigurationError invalid_option',
      'ConfigurationError invalid_option',
      'ConfigurationError invalid_deployment',
    ]);
  });
});
