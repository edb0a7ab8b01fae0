import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createWebhooks } from '../../../src/webhooks/create-webhooks.ts';
import { credentials } from '../../webhooks/deliveries.ts';
import { ourReceivers } from '../diagnostics/attack/our-receivers.ts';
import { startChild } from './child.ts';
import { filesIn, keys, scratchFolder } from './support.ts';

const { TEST_BINARY: binary = '' } = process.env;

/** `npm run binary` runs it, and the other tests of the command line that start a process. */
describe.skipIf(binary === '')('the command line in one file', { timeout: 120_000 }, () => {
  it('signs what it verifies', async () => {
    const cwd = filesIn({ 'body.json': '{"partner_order_id":"A-1","fiat_amount":15000.50}' });
    const signed = await startChild(['sign', 'body.json'], { env: keys, cwd }).ended;
    expect(signed).toMatchObject({ code: 0 });
    const altered = signed.stdout.replace('A-1', 'A-2');
    const files = filesIn({ 'signed.json': signed.stdout, 'altered.json': altered });
    const verify = (file: string) =>
      startChild(['verify', '--purpose', 'order', file], { env: keys, cwd: files }).ended;
    expect([(await verify('signed.json')).code, (await verify('altered.json')).code]).toEqual([0, 1]);
  });

  it('has the page of the sandbox', async () => {
    const running = startChild(['sandbox', '--port', '0']);
    const said = await running.printed('stderr', /inspector is at http\S+\n/);
    const address = /inspector is at (http[^#\s]+)/.exec(said)?.[1] ?? '';
    const page = await fetch(address);
    expect(page.headers.get('content-type')).toContain('text/html');
    expect(await page.text()).toMatch(/^<!doctype html>[\s\S]{10000}/i);
  });

  it('attacks a receiver, and finds nothing broken in ours', async () => {
    const webhooks = createWebhooks({ credentials, bodyTimeoutMs: 1_000 }).onAny(() => {});
    const mounted = (await ourReceivers['node:http']?.(webhooks)) ?? expect.unreachable();
    onTestFinished(() => mounted.close());
    const { partnerPublicKey, partnerSecretKey, merchantSecretKey } = credentials;
    const keys = JSON.stringify({ partnerPublicKey, partnerSecretKey, merchantSecretKey });
    const url = `http://127.0.0.1:${mounted.port}/`;
    const args = ['attack', url, '--quick', '--keys', 'keys.json', '--format', 'json'];
    const { code, stdout } = await startChild(args, { cwd: filesIn({ 'keys.json': keys }) }).ended;
    const { findings, results } = JSON.parse(stdout);
    expect({ code, findings, many: results.length > 40 }).toEqual({ code: 0, findings: [], many: true });
  });

  it('takes no settings from the folder that it is started in', async () => {
    const files = { '.env': 'PARTNER_PUBLIC_KEY=pk_of_a_file\n', 'bunfig.toml': 'preload = ["./gone.ts"]\n' };
    const { stdout } = await startChild(['doctor', '--format', 'json'], { cwd: filesIn(files) }).ended;
    const { checks } = JSON.parse(stdout) as { checks: { id: string; verdict: string }[] };
    expect(checks.find(({ id }) => id === 'environment')?.verdict).toBe('skipped');
  });

  it.runIf(process.getuid?.() === 0)('works for a user without a home or a folder to write to', async () => {
    // The checkout may be in a folder that others cannot read.
    const folder = scratchFolder();
    chmodSync(folder, 0o755);
    copyFileSync(binary, join(folder, 'partner-exchange'));
    const options = { cwd: '/', uid: 65_532, gid: 65_532, env: { HOME: '/' } };
    const child = spawn(join(folder, 'partner-exchange'), ['sign'], options);
    child.stdin.end('{}');
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('There are no keys') });
  });
});
