import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readEnvironment } from '../../../src/deployment/read-environment.ts';
import { writeSavedRequest } from '../../../src/devtools/cli/deliveries/saved-deliveries.ts';
import { defaultScheme } from '../../../src/signature/signature-scheme.ts';
import { partnerCredentials } from '../../drawn/partner.ts';
import type { ServiceOptions } from '../../drawn/service-traits.ts';
import { type CaptureOptions, capture } from '../diagnostics/learn/capture.ts';
import { partnerExchange } from './run-in-process.ts';
import { filesIn } from './support.ts';

const env = {
  PARTNER_PUBLIC_KEY: partnerCredentials.partnerPublicKey,
  PARTNER_SECRET_KEY: partnerCredentials.partnerSecretKey,
  MERCHANT_SECRET_KEY: partnerCredentials.merchantSecretKey,
};

/** A folder as `listen --save` and a client's hooks leave it. */
async function captured(
  options?: ServiceOptions,
  capturing?: CaptureOptions,
): Promise<Record<string, string>> {
  const { deliveries, replies } = await capture(options, capturing);
  const files = deliveries.map(({ body, headers = [], receivedAt }, index) => [
    `${String(index).padStart(6, '0')}.json`,
    writeSavedRequest({ receivedAt, headers: [...headers], body: Buffer.from(body) }),
  ]);
  const lines = replies.map((reply) => JSON.stringify(reply)).join('\n');
  return { ...Object.fromEntries(files), 'replies.jsonl': `${lines}\n` };
}

const run = (args: readonly string[], cwd: string) => partnerExchange(['learn', ...args], { env, cwd });
/** Its replies to orders are lists. */
const listed: ServiceOptions = {
  reply: (own, operation) =>
    operation === 'createOrder' && own.status === 200 ? { ...own, body: [own.body ?? null] } : own,
};
const base64 = { signature: { ...defaultScheme, encoding: 'base64' } } as const;

describe('learn', () => {
  it('prints what traffic decided, and how many rows it did not show', async () => {
    const cwd = filesIn(await captured());
    const { code, stdout } = await run(['.'], cwd);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^proven +signature-key: 32 samples; "merchant\+partner"$/m);
    expect(stdout).toMatch(/19 proven, 29 not seen \(--all lists them\), from 32 events and \d+ replies/);
    expect(stdout.trimEnd().split('\n')).toHaveLength(19 + 1);
    const all = await run(['.', '--all'], cwd);
    expect(all.stdout.match(/^(?:proven|refuted|not-seen) /gm)).toHaveLength(48);
  });

  it('writes a file that the environment takes, with the sample of each override', async () => {
    const cwd = filesIn(await captured({ deployment: base64, ...listed }));
    const { code, stderr } = await run(['.', '--write', 'deployment.json'], cwd);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('Wrote 2 overrides') });
    const path = join(cwd, 'deployment.json');
    const { overrides } = JSON.parse(readFileSync(path, 'utf8'));
    expect(overrides).toMatchObject([
      { row: 'signature-encoding', set: base64, digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
      { row: 'order-reply', digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
    expect(readEnvironment({ PARTNER_EXCHANGE_DEPLOYMENT: path }).deployment).toMatchObject(base64);
    // The file itself is no delivery, and can be written again.
    expect((await run(['.', '--write', 'deployment.json'], cwd)).code).toBe(0);
    expect(JSON.parse(readFileSync(path, 'utf8')).overrides).toEqual(overrides);
  });

  it('replaces no other file', async () => {
    const cwd = filesIn({ ...(await captured()), 'package.txt': '{}' });
    const { code, stderr } = await run(['.', '--write', 'package.txt'], cwd);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('no deployment file') });
  });
});

describe('learn --oracle', () => {
  const learnFrom = (fetch: typeof globalThis.fetch, ...args: readonly string[]) =>
    partnerExchange(['learn', '--oracle', 'https://signer.example/sign', ...args], {
      fetch,
      cwd: filesIn({}),
    });

  it('has an endpoint sign with a throw-away secret, needs no keys and no event, and writes the scheme', async () => {
    const requests: string[] = [];
    const oracle: typeof fetch = async (_, init) => {
      const text = String(init?.body);
      requests.push(text);
      const unsigned = `${text.slice(0, text.lastIndexOf(',"secret"'))}}`;
      return new Response(createHmac('sha512', JSON.parse(text).secret).update(unsigned).digest('base64'));
    };
    const { code, stdout } = await learnFrom(oracle, '--write', 'deployment.json', '--format', 'json');
    expect({ code, deployment: JSON.parse(stdout).deployment }).toEqual({ code: 0, deployment: base64 });
    expect(requests).toHaveLength(1);
  });

  it.each([
    ['answers 404', async () => new Response('no', { status: 404 }), 'signer.example gave no signature: 404'],
    ['signs nothing', async () => new Response('no'), 'Nothing was learnt. The oracle returned 2 characters'],
    [
      'is not there',
      () =>
        Promise.reject(
          new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) }),
        ),
      'signer.example gave no signature: connection closed without an answer (ECONNREFUSED)',
    ],
  ])('says so of an endpoint that %s', async (_, oracle, words) => {
    const { code, stderr } = await learnFrom(oracle);
    expect({ isFailed: code !== 0, stderr }).toEqual({
      isFailed: true,
      stderr: expect.stringContaining(words),
    });
  });
});

describe('learn --check', () => {
  it('passes while the service is as learnt, and names each difference with its sample when it is not', async () => {
    const learnt = filesIn(await captured({ deployment: base64 }));
    await run(['.', '--write', 'deployment.json'], learnt);
    const file = join(learnt, 'deployment.json');
    expect(await run(['.', '--check', file], learnt)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('holds'),
    });
    const later = filesIn(await captured(listed));
    const { code, stdout } = await run(['.', '--check', file], later);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^signature-encoding no longer holds: \d+ samples show "hex"; .*sample [0-9a-f]{64}/m,
    );
    expect(stdout).toMatch(/^order-reply no longer holds: \d+ samples show 200, list; /m);
    expect(stdout.trim().split('\n')).toHaveLength(2);
    const json = JSON.parse((await run(['.', '--check', file, '--format', 'json'], later)).stdout);
    expect(json.drift.map(({ id }: { id: string }) => id)).toEqual(['signature-encoding', 'order-reply']);
  });

  it('does not repeat what a person has seen, and says what is new', async () => {
    const settled = (value: string): ServiceOptions => ({
      event: (body) =>
        body.event_name === 'event.buy.credited.crypto' ? { ...body, crypto_payment_status: value } : body,
    });
    const cwd = filesIn(await captured(settled('SETTLED')));
    await run(['.', '--write', 'deployment.json'], cwd);
    const file = join(cwd, 'deployment.json');
    expect((await run(['.', '--check', file], cwd)).code).toBe(0);
    const { code, stdout } = await run(['.', '--check', file], filesIn(await captured(settled('DONE'))));
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining('DONE') });
  });

  it.each([
    ['a newer form', '{"format":"partner-exchange-deployment/2"}', 'Update'],
    ['other JSON', '{"scheme":1}', 'not a deployment file'],
    ['no JSON', '{', 'not JSON'],
  ])('refuses %s', async (_, text, words) => {
    const cwd = filesIn({ 'deployment.json': text });
    const { code, stderr } = await run(['.', '--check', 'deployment.json'], cwd);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(words) });
  });
});

describe('bad input', () => {
  it('gets a line each, and the rest is read', async () => {
    const good = await captured();
    const cwd = filesIn({
      ...good,
      'cut.json': Object.values(good)[0]?.slice(0, 90) ?? '',
      'other.json': '{"name":"package"}',
      'list.json': '[1,2]',
      'newer.json': '{"format":"partner-exchange-delivery/9"}',
      'cut.jsonl': '{"operation":"createOrder","sta\n{"operation":"nonsense","status":200}\n',
    });
    const { code, stdout, stderr } = await run(['.', '--format', 'json'], cwd);
    expect(code).toBe(0);
    const { deliveries, rows } = JSON.parse(stdout);
    expect(deliveries).toEqual({ genuine: 32, others: 0 });
    expect(rows).toHaveLength(48);
    const lines = stderr.trim().split('\n');
    expect(lines).toHaveLength(6);
    for (const name of [
      'cut.json',
      'other.json',
      'list.json',
      'newer.json',
      'cut.jsonl, line 1',
      'cut.jsonl, line 2',
    ])
      expect(lines.filter((line) => line.includes(`${name} was left out: `))).toHaveLength(1);
  });

  it('is no event behind a byte order mark, or with a line feed behind it', async () => {
    const [saved = ''] = Object.values(await captured());
    const { body } = JSON.parse(saved);
    const cwd = filesIn({ 'mark.json': `\uFEFF${body}`, 'line.json': `${body}\n` });
    const { code, stdout, stderr } = await run(['.', '--format', 'json'], cwd);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ deliveries: { genuine: 2, others: 0 }, deployment: {} });
  });

  it('alone ends with a clear error', async () => {
    const cwd = filesIn({ 'a.json': '{"signature":"00"}' });
    const { code, stderr } = await run(['.'], cwd);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('Nothing was learnt: none of 1'),
    });
  });
});
