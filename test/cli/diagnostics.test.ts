import { describe, expect, it } from 'vitest';
import { createWebhooks } from '../../src/webhooks/create-webhooks.ts';
import { brokenReceivers, startReceiver } from '../diagnostics/attack/broken-receivers.ts';
import { credentials } from '../webhooks/deliveries.ts';
import { listen } from '../webhooks/http/frameworks/listen.ts';
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

describe('attack', () => {
  it('finds nothing broken in our receiver', { timeout: 60_000 }, async () => {
    const webhooks = createWebhooks({ credentials }).onAny(() => {});
    const mounted = await listen(webhooks.node);
    try {
      const { code, results } = await attack(`http://127.0.0.1:${mounted.port}/`);
      expect(results.filter(({ verdict }) => verdict === 'broken' || verdict === 'weak')).toEqual([]);
      expect({ code, many: results.length > 40 }).toEqual({ code: 0, many: true });
    } finally {
      await mounted.close();
    }
  });

  const quick = brokenReceivers.filter(
    ({ finds, timeoutMs }) =>
      timeoutMs === undefined && !('timing' in finds) && Object.values(finds).includes('broken'),
  );

  it.each(quick.slice(0, 2).map((receiver) => [receiver.name, receiver] as const))(
    'a receiver that %s: exits with 1',
    { timeout: 60_000 },
    async (_, { steps, finds }) => {
      await using receiver = await startReceiver(steps);
      const { code, results } = await attack(String(receiver.url));
      const broken = results.filter(({ verdict }) => verdict === 'broken').map(({ id }) => id);
      expect(code).toBe(1);
      expect(broken.length).toBeGreaterThan(0);
      expect(Object.keys(finds)).toEqual(expect.arrayContaining(broken));
    },
  );
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
