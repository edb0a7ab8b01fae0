import { describe, expect, it } from 'vitest';
import { createWebhooks } from '../../src/webhooks/create-webhooks.ts';
import { brokenReceivers, startReceiver } from '../diagnostics/attack/broken-receivers.ts';
import { ourReceivers } from '../diagnostics/attack/our-receivers.ts';
import { closedUrl } from '../support/local-server.ts';
import { some } from '../support/repeat.ts';
import { credentials } from '../webhooks/deliveries.ts';
import { partnerExchange } from './run-in-process.ts';
import { filesIn } from './support.ts';

/** The keys of the receivers, in a file. */
function keysFolder(): string {
  const { partnerPublicKey, partnerSecretKey, merchantSecretKey } = credentials;
  return filesIn({ 'keys.json': JSON.stringify({ partnerPublicKey, partnerSecretKey, merchantSecretKey }) });
}

async function attack(url: string, more: readonly string[] = []) {
  const args = ['attack', url, '--keys', 'keys.json', '--format', 'json', '--skip', 'timing', ...more];
  const { code, stdout } = await partnerExchange(args, { cwd: keysFolder(), now: Date.now });
  const { results }: { results: { id: string; verdict: string }[] } = JSON.parse(stdout);
  return { code, results };
}

/** `test/diagnostics/attack` tries all receivers: here it is what the command makes of a verdict. */
describe('attack', () => {
  it.each(some(Object.entries(ourReceivers), 1))(
    'finds nothing broken in our receiver on %s',
    { timeout: 60_000 },
    async (_, mount) => {
      const webhooks = createWebhooks({ credentials, bodyTimeoutMs: 200 }).onAny(() => {});
      const mounted = await mount(webhooks);
      try {
        const { code, results } = await attack(`http://127.0.0.1:${mounted.port}/`);
        expect(results.filter(({ verdict }) => verdict === 'broken' || verdict === 'weak')).toEqual([]);
        expect({ code, many: results.length > 40 }).toEqual({ code: 0, many: true });
      } finally {
        await mounted.close();
      }
    },
  );

  /** The command cannot ask a receiver what it has handled, and does not measure times here. */
  const skipped = [
    'handled-after-forgeries',
    'handled-next-event',
    'handled-once',
    'acted-before-verification',
    'timing',
  ];
  const findable = brokenReceivers.filter(({ finds }) =>
    Object.entries(finds ?? {}).some(([id, verdict]) => verdict === 'broken' && !skipped.includes(id)),
  );

  it.each(some(findable, 1).map((receiver) => [receiver.name, receiver] as const))(
    'a receiver that %s: exits with 1',
    { timeout: 60_000 },
    async (_, { steps, finds, timeoutMs = 5_000 }) => {
      await using receiver = await startReceiver(steps);
      const { code, results } = await attack(String(receiver.url), ['--timeout-ms', String(timeoutMs)]);
      const broken = results.filter(({ verdict }) => verdict === 'broken').map(({ id }) => id);
      expect(code).toBe(1);
      expect(broken.length).toBeGreaterThan(0);
      expect(Object.keys(finds ?? {})).toEqual(expect.arrayContaining(broken));
    },
  );
});

it('attack says that nothing listens, and ends with 2: nothing was attacked', async () => {
  const url = new URL(await closedUrl());
  const { code, stdout, stderr } = await partnerExchange(['attack', url.href, '--keys', 'keys.json'], {
    cwd: keysFolder(),
  });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(`error: Nothing listens at ${url.host} (ECONNREFUSED), so nothing was sent.`);
});

describe('doctor', () => {
  it('without any configuration says what to set, and skips what needs a network', async () => {
    const { code, stdout } = await partnerExchange(['doctor', '--format', 'json'], { now: Date.now });
    const { checks }: { checks: { id: string; status: string; fix?: string }[] } = JSON.parse(stdout);
    expect(checks.length).toBeGreaterThan(5);
    const fails = checks.filter(({ status }) => status === 'fail');
    expect(code).toBe(fails.length > 0 ? 1 : 0);
    for (const { fix = '' } of fails) expect(fix.length).toBeGreaterThan(10);
  });
});
