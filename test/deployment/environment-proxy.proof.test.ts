import { execFile } from 'node:child_process';
import { createServer } from 'node:net';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { environmentProxy, type ProxySettings, unreadProxy } from '../../src/deployment/environment-proxy.ts';
import { listening } from '../support/listening.ts';

const run = promisify(execFile);

function settings(
  env: ProxySettings['env'],
  { userAgent = 'Node.js/24', flags = [], dispatcher }: Partial<ProxySettings> = {},
): ProxySettings {
  return { env, userAgent, flags, dispatcher };
}

const url = new URL('http://localhost:8080/');
const proxy = 'http://proxy.example:3128';
const useProxy = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy };

describe('an http: request to this machine is taken by a proxy', () => {
  it.each<[string, ProxySettings]>([
    ['of Node with NODE_USE_ENV_PROXY', settings(useProxy)],
    ['in lower case', settings({ NODE_USE_ENV_PROXY: '1', http_proxy: proxy })],
    ['of Node with --use-env-proxy', settings({ HTTP_PROXY: proxy }, { flags: ['--use-env-proxy'] })],
    ['of Node with NODE_OPTIONS', settings({ HTTP_PROXY: proxy, NODE_OPTIONS: '--a --use-env-proxy' })],
    [
      'of a dispatcher over the environment',
      settings({ HTTP_PROXY: proxy }, { dispatcher: 'EnvHttpProxyAgent' }),
    ],
    ['of a dispatcher', settings({}, { dispatcher: 'ProxyAgent' })],
    ['of Bun', settings({ HTTP_PROXY: proxy }, { userAgent: 'Bun/1.3.0' })],
    ['of Deno', settings({ HTTP_PROXY: proxy }, { userAgent: 'Deno/2.5.0' })],
    ['of Deno, for everything', settings({ ALL_PROXY: proxy }, { userAgent: 'Deno/2.5.0' })],
    ['although others are exempt', settings({ ...useProxy, NO_PROXY: 'intern.example,127.0.0.1' })],
    ['although another port is exempt', settings({ ...useProxy, NO_PROXY: 'localhost:1' })],
    ['although the ignored spelling exempts it', settings({ ...useProxy, no_proxy: 'x', NO_PROXY: '*' })],
    ['although a star among others looks like all', settings({ ...useProxy, NO_PROXY: 'x,*' })],
  ])('%s', (_, given) => {
    expect(environmentProxy(url, given)).toMatch(/proxy/i);
  });
});

describe('an http: request to this machine stays here', () => {
  it.each<[string, ProxySettings]>([
    ['without a proxy', settings({ NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: proxy })],
    ['with an empty one', settings({ NODE_USE_ENV_PROXY: '1', HTTP_PROXY: '' })],
    ['in Node that is not told to use it', settings({ HTTP_PROXY: proxy }, { dispatcher: 'Agent' })],
    ['when all hosts are exempt', settings({ ...useProxy, NO_PROXY: '*' })],
    ['when it is exempt', settings({ ...useProxy, NO_PROXY: 'a.example, LOCALHOST' })],
    ['when its port is exempt', settings({ ...useProxy, NO_PROXY: 'localhost:8080' })],
    [
      'in Bun, when it is exempt',
      settings({ HTTP_PROXY: proxy, no_proxy: 'localhost' }, { userAgent: 'Bun/1' }),
    ],
    [
      'in Deno, when it is exempt',
      settings({ HTTP_PROXY: proxy, NO_PROXY: 'localhost' }, { userAgent: 'Deno/2' }),
    ],
  ])('%s', (_, given) => {
    expect(environmentProxy(url, given)).toBeUndefined();
  });

  it('under an address of IPv6, as each runtime writes it', () => {
    const six = new URL('http://[::1]:8080/');
    expect(environmentProxy(six, settings({ ...useProxy, NO_PROXY: '[::1]' }))).toBeUndefined();
    expect(environmentProxy(six, settings({ ...useProxy, NO_PROXY: '::1' }))).toBe('HTTP_PROXY');
    const deno = settings({ HTTP_PROXY: proxy, NO_PROXY: '::1' }, { userAgent: 'Deno/2' });
    expect(environmentProxy(six, deno)).toBeUndefined();
  });
});

describe('a proxy that is set and that Node does not read', () => {
  const outside = new URL('https://service.example/');

  it.each<[string, ProxySettings]>([
    ['HTTPS_PROXY', settings({ HTTPS_PROXY: proxy })],
    ['https_proxy', settings({ https_proxy: proxy, NO_PROXY: 'localhost' })],
    ['ALL_PROXY', settings({ ALL_PROXY: proxy, HTTP_PROXY: proxy }, { dispatcher: 'Agent' })],
  ])('is named: %s', (name, given) => {
    expect(unreadProxy(outside, given)).toBe(name);
  });

  it.each<[string, ProxySettings]>([
    ['none', settings({ HTTPS_PROXY: '', HTTP_PROXY: proxy })],
    ['one that Node is told to read', settings({ HTTPS_PROXY: proxy, NODE_USE_ENV_PROXY: '1' })],
    ['one that a flag has it read', settings({ HTTPS_PROXY: proxy }, { flags: ['--use-env-proxy'] })],
    ['one beside a dispatcher of the user', settings({ HTTPS_PROXY: proxy }, { dispatcher: 'ProxyAgent' })],
    ['one that exempts the host', settings({ HTTPS_PROXY: proxy, NO_PROXY: 'service.example' })],
    ['one of Bun', settings({ HTTPS_PROXY: proxy }, { userAgent: 'Bun/1.3.0' })],
    ['one of Deno', settings({ HTTPS_PROXY: proxy }, { userAgent: 'Deno/2.5.0' })],
  ])('is not %s', (_, given) => {
    expect(unreadProxy(outside, given)).toBeUndefined();
  });
});

describe('in a process of Node', () => {
  it.each<[env: Record<string, string>, flags: string[]]>([
    [{}, []],
    [{ NODE_USE_ENV_PROXY: '1' }, []],
    [{}, ['--use-env-proxy']],
    [{ NODE_USE_ENV_PROXY: '1', NO_PROXY: 'localhost' }, []],
    [{ NODE_USE_ENV_PROXY: '1', NO_PROXY: '127.0.0.1,localhost:1' }, []],
    [{ NODE_USE_ENV_PROXY: '1', NO_PROXY: '*' }, []],
  ])('a base URL is refused if and only if fetch would go to the proxy: %j %j', async (env, flags) => {
    let taken = 0;
    const server = createServer((socket) => {
      taken++;
      socket.destroy();
    });
    const proxyUrl = await listening(server);
    const script = `
      const { defineDeployment } = await import(${JSON.stringify(new URL('../../src/deployment/define-deployment.ts', import.meta.url).href)});
      const messengerBaseUrl = 'http://localhost:9';
      const complaint = (options) => { try { defineDeployment({ messengerBaseUrl, ...options }); return ''; } catch (error) { return error.message; } };
      await fetch('http://localhost:49151').catch(() => {});
      console.log(JSON.stringify([complaint({}), complaint({ allowInsecureHttp: true })]));`;
    try {
      const { stdout } = await run(process.execPath, [...flags, '--input-type=module', '-e', script], {
        env: { HTTP_PROXY: proxyUrl, ...env },
      });
      const [complaint, allowed] = JSON.parse(stdout) as string[];
      expect(complaint !== '').toBe(taken > 0);
      if (taken > 0)
        expect(complaint).toMatch(/messengerBaseUrl is http:, and HTTP_PROXY .* localhost to NO_PROXY/);
      expect(allowed).toBe('');
    } finally {
      server.close();
    }
  });
});
