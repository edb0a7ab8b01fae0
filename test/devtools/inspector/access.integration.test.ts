import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { controlHandler } from '../../../src/devtools/sandbox/control/control-api.ts';
import { sandboxEndpoints } from '../../../src/devtools/sandbox/control/sandbox-endpoints.ts';
import { createSandbox } from '../../../src/devtools/sandbox/create-sandbox.ts';
import { readSandboxOptions } from '../../../src/devtools/sandbox/settings/sandbox-options.ts';
import { createState } from '../../../src/devtools/sandbox/world/state.ts';
import { rawRequest } from '../../support/raw-request.ts';
import { type Story, startStory } from './story.ts';

let story: Story;
beforeAll(async () => {
  story = await startStory();
});
afterAll(() => story[Symbol.asyncDispose]());

const send = (path: string, init?: Parameters<typeof rawRequest>[1]) =>
  rawRequest(`${story.server.url}/_sandbox/${path}`, init);

const errorOf = ({ status, text }: { status: number; text: string }) => [status, JSON.parse(text).error];
const json = { 'content-type': 'application/json' };

describe('what changes the sandbox', () => {
  const changes = [
    'POST orders',
    'POST orders/x/advance',
    'POST deliveries/x/post',
    'POST faults',
    'DELETE faults',
    'POST clock',
    'POST reset',
  ];

  it.each(changes)('needs the token: %s', async (change) => {
    const [method = '', path = ''] = change.split(' ');
    const without = await send(path, { method, headers: json });
    expect(errorOf(without)).toEqual([401, 'token_missing']);
    expect(JSON.stringify(without)).toContain('behind #token= in the address of the inspector');
    for (const authorization of [
      'Bearer wrong',
      `Bearer ${story.server.token}x`,
      `Basic ${story.server.token}`,
    ]) {
      const { status } = await send(path, { method, headers: { ...json, authorization } });
      expect(status).toBe(401);
    }
  });

  it('takes the token from the header alone, never from the query', async () => {
    const { token } = story.server;
    expect(errorOf(await send(`reset?token=${token}`, { method: 'POST' }))).toEqual([401, 'token_missing']);
    expect(
      errorOf(await send('', { method: 'POST', headers: { authorization: `Bearer ${token}` } })),
    ).toEqual([405, 'method_not_allowed']);
  });

  it('draws another token for each server, which the seed does not tell', async () => {
    await using other = await startStory();
    expect(other.sandbox.seed).toBe(story.sandbox.seed);
    expect(other.server.token).not.toBe(story.server.token);
    expect(story.server.token).toMatch(/^[\w-]{32}$/);
    expect(story.server.inspectorUrl).toBe(`${story.server.url}/_sandbox/#token=${story.server.token}`);
  });

  it('takes a token of your choice that is long enough', async () => {
    const token = 'a-token-of-my-own-choice';
    await using own = await startStory({}, { token });
    expect((await own.api('faults', undefined, 'DELETE')).status).toBe(200);
    expect(own.server.token).toBe(token);
    for (const wrong of ['short', 'with blanks in between'])
      await expect(createSandbox().listen({ token: wrong })).rejects.toThrow('token');
  });
});

describe('pages of others', () => {
  it('are refused when they reach the server under a name of theirs (DNS rebinding)', async () => {
    const host = `rebound.example:${new URL(story.server.url).port}`;
    for (const path of ['', 'state', 'trace']) {
      expect(errorOf(await send(path, { headers: { host } }))).toEqual([403, 'host_not_allowed']);
    }
  });

  it('are refused by their Origin, even with the token', async () => {
    const headers = {
      ...json,
      authorization: `Bearer ${story.server.token}`,
      origin: 'https://evil.example',
    };
    expect(errorOf(await send('reset', { method: 'POST', headers }))).toEqual([403, 'host_not_allowed']);
    expect(errorOf(await send('state', { headers: { origin: 'null' } }))).toEqual([403, 'host_not_allowed']);
    const own = { ...headers, origin: story.server.url };
    expect((await send('faults', { method: 'DELETE', headers: own })).status).toBe(200);
  });

  it('cannot even embed what can be read', async () => {
    for (const site of ['cross-site', 'same-site']) {
      const headers = { 'sec-fetch-site': site, 'sec-fetch-mode': 'no-cors' };
      expect(errorOf(await send('state', { headers }))).toEqual([403, 'foreign_page']);
      expect(errorOf(await send('', { headers }))).toEqual([403, 'foreign_page']);
    }
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    expect((await send('', { headers: link })).status).toBe(200);
    expect(errorOf(await send('state', { headers: link }))).toEqual([403, 'foreign_page']);
    expect((await send('state', { headers: { 'sec-fetch-site': 'same-origin' } })).status).toBe(200);
  });

  it('get no CORS headers, whatever they ask for', async () => {
    const preflight = {
      origin: story.server.url,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    };
    const { headers } = await send('reset', { method: 'OPTIONS', headers: preflight });
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

it('HEAD is answered as GET is, without a body', async () => {
  expect(await send('state', { method: 'HEAD' })).toMatchObject({ status: 200, text: '' });
  expect(await send('reset', { method: 'HEAD' })).toMatchObject({ status: 405, text: '' });
});

describe('headers', () => {
  it.each(['', 'state', 'nothing/here'])('of "%s" allow nothing that is not needed', async (path) => {
    const { headers } = await send(path);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'cross-origin-resource-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
    });
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
  });

  it('of the page allow its one script and style sheet by their hashes', async () => {
    const { headers, text } = await send('');
    const policy = String(headers['content-security-policy']);
    expect(policy).toMatch(
      /script-src 'sha256-[\w+/=]{44}'; style-src 'sha256-[\w+/=]{44}'; connect-src 'self'/,
    );
    expect(text.match(/<script/g)).toHaveLength(1);
    // But for the names of XML namespaces and a receiver on this machine, the page knows no address.
    expect(text.replaceAll(/http:\/\/(?:www\.w3\.org\/[\w/]+|127\.0\.0\.1:3000)/g, '')).not.toMatch(
      /\b(?:https?:)?\/\/\w+\.\w+/,
    );
  });
});

describe('malformed requests', () => {
  const authorized = () => ({ ...json, authorization: `Bearer ${story.server.token}` });

  it.each([
    ['no JSON', '{', [400, 'body_not_json']],
    ['an unknown member', '{"advanceMs":1,"extra":1}', [400, 'invalid_body']],
    ['a value that does not fit', '{"advanceMs":-1}', [400, 'invalid_body']],
    ['too long a body', JSON.stringify({ advanceMs: 1, x: 'x'.repeat(70_000) }), [413, 'body_too_large']],
  ])('are refused: %s', async (_, body, expected) => {
    expect(errorOf(await send('clock', { method: 'POST', headers: authorized(), body }))).toEqual(expected);
  });

  it('are refused: another type, as a form has it', async () => {
    const headers = { ...authorized(), 'content-type': 'text/plain' };
    const answer = await send('clock', { method: 'POST', headers, body: '{"advanceMs":1}' });
    expect(errorOf(answer)).toEqual([415, 'unsupported_media_type']);
  });

  it.each([
    ['orders?limit=0', [400, 'invalid_query']],
    ['orders?lmit=1', [400, 'invalid_query']],
    ['trace/%E0%A4%A', [400, 'bad_path']],
    ['orders/unknown', [404, 'not_found']],
    ['trace/999999', [404, 'unknown_entry']],
    ['trace/__proto__', [404, 'unknown_entry']],
    ['reset', [405, 'method_not_allowed']],
  ])('are refused: %s', async (path, expected) => {
    expect(errorOf(await send(path))).toEqual(expected);
  });
});

describe('other machines', () => {
  const token = 'the-token-of-this-test';
  const from = (access: 'loopback' | 'any') => {
    const sandbox = createSandbox();
    const state = createState(sandbox.deployment, readSandboxOptions({}));
    const serve = controlHandler(
      { path: '/_sandbox/', token, from: access, hasGivenKeys: false },
      sandboxEndpoints(sandbox, state),
    );
    return (path: string, ip: string, init?: RequestInit) =>
      serve(new Request(`http://sandbox.test/_sandbox/${path}`, init), { ip });
  };
  const authorization = { headers: { authorization: `Bearer ${token}` } };

  it('are refused unless told otherwise, with the token, too', async () => {
    const ask = from('loopback');
    for (const ip of ['192.168.1.7', '::ffff:10.0.0.1', 'fe80::1', '', '1.127.0.0', '::127.0.0.1']) {
      const answer = await ask('state', ip, authorization);
      expect([ip, answer.status, (await answer.json()).error]).toEqual([ip, 403, 'not_loopback']);
    }
    for (const ip of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) {
      expect([ip, (await ask('state', ip)).status]).toEqual([ip, 200]);
    }
  });

  it('need the token for what they read, where they are let in', async () => {
    const ask = from('any');
    expect((await ask('state', '192.168.1.7')).status).toBe(401);
    expect((await ask('state', '192.168.1.7', authorization)).status).toBe(200);
    // The page itself holds nothing: it asks for the token.
    expect((await ask('', '192.168.1.7')).status).toBe(200);
    expect((await ask('state', '127.0.0.1')).status).toBe(200);
  });

  it('find nothing where it is off', async () => {
    await using off = await startStory({}, { inspector: 'off' });
    expect((await fetch(`${off.server.url}/_sandbox/state`)).status).toBe(404);
    await expect(createSandbox().listen({ inspector: 'everybody' as 'any' })).rejects.toThrow('inspector');
  });
});
