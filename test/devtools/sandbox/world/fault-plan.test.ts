import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../../../src/devtools/sandbox/create-sandbox.ts';
import { type FaultScenario, faultScenarios } from '../../../../src/devtools/sandbox/settings/faults.ts';
import type { SandboxOptions } from '../../../../src/devtools/sandbox/settings/sandbox-options.ts';
import { isConfigurationError } from '../../../../src/errors/errors.ts';
import { callback, onboarded, order, partner, place, post } from '../support.ts';

/** Ten orders with two events each, under whatever is asked for. */
async function session(options: SandboxOptions): Promise<unknown[]> {
  const sandbox = createSandbox({ fetch: callback().fetch, clock: 'manual', now: () => 0, ...options });
  sandbox.faults.clear();
  const credentials = await onboarded(sandbox);
  if (options.faults !== undefined && typeof options.faults === 'object') sandbox.faults.rate(options.faults);
  if (typeof options.faults === 'string') sandbox.faults.scenario(options.faults);
  for (let index = 0; index < 10; index++) {
    const partner_order_id = `A-${index}`;
    await place(sandbox, credentials, { ...order, partner_order_id }).catch(() => {});
    const exists = sandbox.orders.some((one) => one.partner_order_id === partner_order_id);
    if (exists) await sandbox.advance(partner_order_id, 'fiat_received');
  }
  await sandbox.idle();
  await sandbox.clock.drain();
  return [sandbox.masterKey, sandbox.emails, ...sandbox.trace.entries];
}

describe('a seed', () => {
  // Sound: the keys are the names. `slow` stalls until a caller gives up, and this one does not.
  const scenarios = Object.keys(faultScenarios) as FaultScenario[];
  it.each(scenarios.filter((name) => name !== 'slow'))(
    'replays %s exactly: keys, links, ids, signatures, faults, texts',
    async (faults) => {
      const rates = { ...faultScenarios[faults], trickle: 0 };
      const once = await session({ seed: 7, faults: rates });
      expect(await session({ seed: '7', faults: rates })).toEqual(once);
      expect(await session({ seed: 8, faults: rates })).not.toEqual(once);
    },
  );

  it('is drawn when it is not given, and can be read and given', async () => {
    const one = createSandbox();
    expect(one.seed).toMatch(/^[0-9a-f]{24}$/);
    expect(createSandbox().seed).not.toBe(one.seed);
    expect(createSandbox({ seed: one.seed }).masterKey).toBe(one.masterKey);
    expect(one.trace.text()).toContain(`sandbox seed ${one.seed}`);
  });

  it('keeps the keys when faults are added', async () => {
    const [plain, faulty] = [createSandbox({ seed: 1 }), createSandbox({ seed: 1, faults: { gzip: 0.5 } })];
    expect(await onboarded(faulty)).toEqual(await onboarded(plain));
  });

  it('that is none is refused', () => {
    for (const seed of ['', Number.NaN, null]) {
      // @ts-expect-error: null is wrong on purpose
      expect(() => createSandbox({ seed })).toThrow(expect.toSatisfy(isConfigurationError));
    }
  });
});

describe('planned faults', () => {
  const statuses = async (sandbox: ReturnType<typeof createSandbox>, requests: number) => {
    const seen: number[] = [];
    for (let index = 0; index < requests; index++) {
      seen.push((await post(sandbox, 'whitelistIp', 'x')).status);
    }
    return seen;
  };

  it('come one for each request, in the order in which they were planned', async () => {
    const sandbox = createSandbox();
    sandbox.faults.next('whitelistIp', 'misdirected');
    sandbox.faults.next('onboard', 'html');
    sandbox.faults.next('request', { kind: 'server_error', status: 503 });
    expect(sandbox.faults.current.next).toHaveLength(3);
    expect(await statuses(sandbox, 3)).toEqual([421, 503, 200]);
    expect((await post(sandbox, 'onboard', partner)).status).toBe(502);
  });

  it('stay as they were given, whatever becomes of the object', async () => {
    const sandbox = createSandbox();
    const planned = { kind: 'server_error', status: 504 } as const;
    const rate = { probability: 1, status: 503 };
    sandbox.faults.next('whitelistIp', planned);
    sandbox.faults.rate({ server_error: rate });
    Object.assign(planned, { status: 1 });
    Object.assign(rate, { status: 1 });
    expect(await statuses(sandbox, 2)).toEqual([504, 503]);
  });

  it('end with clear, rates too', async () => {
    const sandbox = createSandbox({ faults: 'outage' });
    expect(await statuses(sandbox, 1)).toEqual([503]);
    sandbox.faults.next('whitelistIp', 'html');
    sandbox.faults.clear();
    expect(await statuses(sandbox, 2)).toEqual([200, 200]);
    expect(sandbox.faults.current).toEqual({ next: [], rates: {} });
  });

  it('of a rate strike as often as it says, before and after the effect', async () => {
    const sandbox = createSandbox({ seed: 5, faults: { server_error: 0.3 } });
    const seen = await statuses(sandbox, 1000);
    const failed = seen.filter((status) => status === 500).length;
    expect(failed).toBeGreaterThan(250);
    expect(failed).toBeLessThan(350);
    const notes = sandbox.trace.entries.filter(({ kind }) => kind === 'fault').map(({ note }) => note);
    expect(new Set(notes)).toEqual(new Set(['before the effect', 'after the effect']));
  });

  it('of events strike about as often as they say, and each event by itself, whatever else happens', async () => {
    const dropped = async (ids: readonly string[]) => {
      const sandbox = createSandbox({ seed: 1, fetch: callback().fetch, faults: { drop: 0.3 } });
      const credentials = await onboarded(sandbox);
      for (const partner_order_id of ids) await place(sandbox, credentials, { ...order, partner_order_id });
      await sandbox.idle();
      return sandbox.deliveries
        .filter(({ faults }) => faults.includes('drop'))
        .map(({ partner_order_id }) => partner_order_id);
    };
    const ids = Array.from({ length: 200 }, (_, index) => `A-${index}`);
    const all = await dropped(ids);
    expect(all.length).toBeGreaterThan(40);
    expect(all.length).toBeLessThan(80);
    const some = ids.filter((_, index) => index % 3 === 0);
    expect(await dropped(some)).toEqual(all.filter((id) => some.includes(id)));
  });

  it('of one operation leave the others alone, and go before those of all', async () => {
    const sandbox = createSandbox();
    sandbox.faults.rate({ server_error: 1 });
    sandbox.faults.rate('whitelistIp', { server_error: { probability: 1, status: 504 } });
    sandbox.faults.rate('onboard', { server_error: 0 });
    expect(await statuses(sandbox, 1)).toEqual([504]);
    expect((await post(sandbox, 'onboard', partner)).status).toBe(200);
    expect((await post(sandbox, 'generateApiKey', {})).status).toBe(500);
  });

  it('strike the one-time link too: keys can be lost on the way', async () => {
    const sandbox = createSandbox();
    await post(sandbox, 'onboard', partner);
    sandbox.faults.next('openLink', 'reply_lost');
    const link = sandbox.emails[0]?.link ?? '';
    await expect(sandbox.fetch(link)).rejects.toThrow('fetch failed');
    expect((await sandbox.fetch(link)).status).toBe(410);
  });

  it.each([
    ['an unknown target', (s: Faults) => s.next('createOrders' as 'createOrder', 'reset'), 'createOrder'],
    ['an unknown fault', (s: Faults) => s.next('createOrder', 'rest' as 'reset'), 'reset'],
    [
      'a fault of the other side',
      (s: Faults) => s.next('createOrder', 'duplicate' as never),
      'cannot happen to',
    ],
    ['a time that is none', (s: Faults) => s.next('event', { kind: 'drop', when: 'after' } as never), 'when'],
    [
      'a lost reply of nothing',
      (s: Faults) => s.next('request', { kind: 'reply_lost', when: 'before' }),
      'after',
    ],
    [
      'a detail that it does not have',
      (s: Faults) => s.next('request', { kind: 'reset', status: 1 }),
      'status',
    ],
    [
      'a status that is none',
      (s: Faults) => s.next('request', { kind: 'server_error', status: 200 }),
      'status',
    ],
    [
      'an address that no header can have',
      (s: Faults) => s.next('request', { kind: 'redirect', location: 'https://a.example/\r\nx: y' }),
      'location',
    ],
    ['a probability above 1', (s: Faults) => s.rate({ reset: 1.1 }), 'probability'],
    ['a rate of an unknown fault', (s: Faults) => s.rate({ resett: 1 } as never), 'reset'],
    ['a rate for the other side', (s: Faults) => s.rate('event', { reset: 1 } as never), 'cannot happen to'],
    ['an unknown scenario', (s: Faults) => s.scenario('chaos' as 'hostile'), "'calm' or 'bad_network'"],
  ])('refuse %s by name', (_, call, hint) => {
    const { faults } = createSandbox();
    expect(() => call(faults)).toThrow(expect.toSatisfy(isConfigurationError));
    expect(() => call(faults)).toThrow(hint);
    expect(faults.current).toEqual({ next: [], rates: {} });
  });
});

type Faults = ReturnType<typeof createSandbox>['faults'];
