import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { CallOptions } from '../../src/client/call-options.ts';
import type { ClientOptions } from '../../src/client/client-options.ts';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { MessengerClient } from '../../src/client/messenger-client.ts';
import type { Deployment } from '../../src/deployment/define-deployment.ts';
import { userAgent } from '../../src/internal/user-agent.ts';
import { startServer } from '../support/local-server.ts';
import { refusal, rejected } from '../support/refusal.ts';
import { cautious, createOrder, deploymentAt, harmless } from './clients.ts';
import { watchRejections } from './watch-rejections.ts';

watchRejections();

const deployment = deploymentAt('http://127.0.0.1:9');

/** How values are checked stands in test/internal/options.test.ts. */
const unsound: [option: string, value: unknown][] = [
  ['timeoutMs', 0],
  ['totalTimeoutMs', Number.NaN],
  ['maxAttempts', 0],
  ['fetch', 'fetch'],
  ['onRequest', 'log'],
  ['onResponse', {}],
  ['random', 0.5],
  ['now', 0],
  ['retry', 3],
];

describe.each([
  ['ExchangeClient', ExchangeClient],
  ['MessengerClient', MessengerClient],
] as const)('%s', (_, Client) => {
  /** What a JavaScript caller may pass. */
  const make = (options: Record<string, unknown>) => () => {
    new Client({ deployment, ...options } as { deployment: Deployment } & ClientOptions);
  };

  it.each(unsound)('refuses the option %s of %o', (option, value) => {
    expect(refusal(make({ [option]: value }))).toBe('ConfigurationError invalid_option');
    expect(make({ [option]: value })).toThrow(new RegExp(`^${option} (?:must be|needs)`));
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a URL', 'https://service.example'],
    ['a plain object', { onboardingBaseUrl: 'https://a.example' }],
  ])('refuses %s for a deployment', (_, given) => {
    expect(refusal(make({ deployment: given }))).toBe('ConfigurationError invalid_deployment');
  });
});

describe('an option that does not exist', () => {
  it.each<[Client: string, make: (options: object) => () => unknown]>([
    ['ExchangeClient', (options) => () => new ExchangeClient({ deployment, ...options })],
    ['MessengerClient', (options) => () => new MessengerClient({ deployment, ...options })],
  ])('of %s is refused with the nearest one that does', (name, make) => {
    expect(refusal(make({ timeout: 5 }))).toBe('ConfigurationError invalid_option');
    expect(make({ timeout: 5 })).toThrow(`"timeout" is not an option of ${name}. Did you mean "timeoutMs"?`);
    expect(make({ retry: { maxDelay: 5 } })).toThrow(
      '"maxDelay" is not an option of retry. Did you mean "maxDelayMs"?',
    );
  });

  it.each([...cautious, ...harmless])('of a call to %s is refused before any request', async (name, run) => {
    const server = await startServer({});
    // What a JavaScript caller may pass.
    const error = await rejected(run(server.url, {}, { timeoutMS: 5 } as CallOptions));
    expect(error).toMatchObject({ name: 'ConfigurationError', code: 'invalid_option' });
    expect(String(error)).toContain(`"timeoutMS" is not an option of ${name}. Did you mean "timeoutMs"?`);
    expect(server.requests).toHaveLength(0);
  });
});

it.each<[string, Record<string, unknown>]>([
  ['timeoutMs of 0', { timeoutMs: 0 }],
  ['signal that is a controller', { signal: new AbortController() }],
  ['schema that is a function', { schema: () => true }],
])('an unsound option of a call is refused before any request: %s', async (_, call) => {
  const server = await startServer({});
  // What a JavaScript caller may pass.
  expect(await rejected(createOrder(server.url, {}, call as CallOptions))).toMatchObject({
    name: 'ConfigurationError',
    code: 'invalid_option',
  });
  expect(server.requests).toHaveLength(0);
});

it('both clients refuse to hold secrets in a browser', async () => {
  expect(await inBrowser()).toEqual(['browser_environment', 'browser_environment']);
});

describe('the user agent', () => {
  it('is the name and version of the package', () => {
    const { name, version } = JSON.parse(
      readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
    );
    expect(userAgent).toBe(`${name}/${version}`);
  });

  it('can be set by the deployment, like other headers', async () => {
    const server = await startServer({});
    const own = deploymentAt(server.url, { headers: { 'User-Agent': 'acme/1', 'X-Region': 'lagos' } });
    await new ExchangeClient({ deployment: own }).whitelistIp();
    expect(server.requests[0]?.headers).toMatchObject({ 'user-agent': 'acme/1', 'x-region': 'lagos' });
  });
});

/** What the constructors do in a process that looks like a browser: `made`, or the code of the error. */
async function inBrowser(): Promise<unknown> {
  const source = (path: string) => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href);
  const script = `
    globalThis.window = globalThis;
    globalThis.document = {};
    const { defineDeployment } = await import(${source('deployment/define-deployment.ts')});
    const { ExchangeClient } = await import(${source('client/exchange-client.ts')});
    const { MessengerClient } = await import(${source('client/messenger-client.ts')});
    const url = 'https://service.example';
    const deployment = defineDeployment({ onboardingBaseUrl: url, stagingUrl: url, messengerBaseUrl: url });
    const seen = [ExchangeClient, MessengerClient].map((Client) => {
      try {
        new Client({ deployment });
        return 'made';
      } catch (error) {
        return error.code;
      }
    });
    process.stdout.write(JSON.stringify(seen));
  `;
  const cwd = fileURLToPath(new URL('../..', import.meta.url));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--no-warnings', '--experimental-strip-types', '--input-type=module', '--eval', script],
    { cwd },
  );
  return JSON.parse(stdout);
}
