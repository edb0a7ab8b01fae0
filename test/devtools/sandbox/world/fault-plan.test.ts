import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../../../src/devtools/sandbox/create-sandbox.ts';
import { eventFaultNames } from '../../../../src/devtools/sandbox/settings/event-faults.ts';
import {
  type PlannedFault,
  type RequestFault,
  requestFaultNames,
} from '../../../../src/devtools/sandbox/settings/faults.ts';
import { isConfigurationError } from '../../../../src/errors/errors.ts';
import { planFaults } from '../../../support/fault-rates.ts';
import { callback, onboarded, order, partner, place, post } from '../support.ts';

/** Ten orders with two events each, under whatever is asked for. */
async function session(seed: string | number, faults: readonly PlannedFault[]): Promise<unknown[]> {
  const sandbox = createSandbox({ fetch: callback().fetch, clock: 'manual', now: () => 0, seed });
  const credentials = await onboarded(sandbox);
  planFaults(sandbox.faults, faults);
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
  // `stall` and `trickle` wait for a caller who gives up, and this one does not.
  const requestFaults = requestFaultNames.filter((name) => name !== 'stall' && name !== 'trickle');
  it.each([
    ['faults of requests', requestFaults.map((fault) => ({ target: 'request', fault, rate: 0.05 }) as const)],
    ['faults of events', eventFaultNames.map((fault) => ({ target: 'event', fault, rate: 0.2 }) as const)],
  ] satisfies [string, readonly PlannedFault[]][])(
    'replays %s exactly: keys, links, ids, signatures, faults, texts',
    async (_, faults) => {
      const once = await session(7, faults);
      expect(await session('7', faults)).toEqual(once);
      expect(await session(8, faults)).not.toEqual(once);
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
    const faults = [{ target: 'request', fault: 'gzip', rate: 0.5 }] as const;
    const [plain, faulty] = [createSandbox({ seed: 1 }), createSandbox({ seed: 1, faults })];
    expect(await onboarded(faulty)).toEqual(await onboarded(plain));
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
    sandbox.faults.plan('whitelistIp', 'misdirected');
    sandbox.faults.plan('onboard', 'html');
    sandbox.faults.plan('request', { kind: 'server_error', status: 503 });
    expect(sandbox.faults.list()).toHaveLength(3);
    expect(await statuses(sandbox, 3)).toEqual([421, 503, 200]);
    expect((await post(sandbox, 'onboard', partner)).status).toBe(502);
  });

  it('end with clear, rates too', async () => {
    const outage = { kind: 'server_error', when: 'before', status: 503 } as const;
    const sandbox = createSandbox({ faults: [{ target: 'request', fault: outage, rate: 1 }] });
    expect(await statuses(sandbox, 1)).toEqual([503]);
    sandbox.faults.plan('whitelistIp', 'html');
    sandbox.faults.clear();
    expect(await statuses(sandbox, 2)).toEqual([200, 200]);
    expect(sandbox.faults.list()).toEqual([]);
  });

  const both = ['after the effect', 'before the effect'];
  it.each<[RequestFault['kind'] | RequestFault, readonly string[]]>([
    ['server_error', both],
    ['reply_lost', ['after the effect']],
    ['too_many_requests', ['before the effect']],
    ['redirect', ['before the effect']],
    ['misdirected', ['before the effect']],
    ['conflict', ['before the effect']],
    [{ kind: 'conflict', when: 'after' }, ['after the effect']],
    [{ kind: 'too_many_requests', when: 'either' }, both],
  ])('of a rate strike as they say: %j %j', async (fault, times) => {
    const sandbox = createSandbox({ seed: 5, faults: [{ target: 'request', fault, rate: 1 }] });
    for (let count = 0; count < 20; count++) await post(sandbox, 'whitelistIp', 'x').catch(() => {});
    const notes = sandbox.trace.entries.filter(({ kind }) => kind === 'fault').map(({ note }) => note);
    expect([...new Set(notes)].sort()).toEqual(times);
  });

  it('of events strike about as often as they say, and each event by itself, whatever else happens', async () => {
    const dropped = async (ids: readonly string[]) => {
      const faults = [{ target: 'event', fault: 'drop', rate: 0.3 }] as const;
      const sandbox = createSandbox({ seed: 1, fetch: callback().fetch, faults });
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
    sandbox.faults.plan('request', 'server_error', { rate: 1 });
    sandbox.faults.plan('whitelistIp', { kind: 'server_error', status: 504 }, { rate: 1 });
    sandbox.faults.plan('onboard', 'server_error', { rate: 0 });
    expect(await statuses(sandbox, 1)).toEqual([504]);
    expect((await post(sandbox, 'onboard', partner)).status).toBe(200);
    expect((await post(sandbox, 'generateApiKey', {})).status).toBe(500);
  });

  it('at a rate replace an earlier rate of the same fault at the same target, and keep what was given', () => {
    const { faults } = createSandbox();
    const late = { kind: 'delay', delayMs: 5 } as const;
    faults.plan('event', late, { rate: 1 });
    faults.plan('event.buy.init', 'delay', { rate: 0.5 });
    faults.plan('event', late, { rate: 0.1 });
    Object.assign(late, { delayMs: 6 });
    expect(faults.list()).toEqual([
      { target: 'event.buy.init', fault: 'delay', rate: 0.5 },
      { target: 'event', fault: { kind: 'delay', delayMs: 5 }, rate: 0.1 },
    ]);
  });

  it('strike the one-time link too: keys can be lost on the way', async () => {
    const sandbox = createSandbox();
    await post(sandbox, 'onboard', partner);
    sandbox.faults.plan('openLink', 'reply_lost');
    const link = sandbox.emails[0]?.link ?? '';
    await expect(sandbox.fetch(link)).rejects.toThrow('fetch failed');
    expect((await sandbox.fetch(link)).status).toBe(410);
  });

  it.each([
    ['an unknown target', { target: 'createOrders', fault: 'reset' }, 'createOrder'],
    ['an unknown fault', { target: 'createOrder', fault: 'rest' }, 'reset'],
    ['a fault of the other side', { target: 'createOrder', fault: 'duplicate' }, 'cannot happen to'],
    ['a time of an event', { target: 'event', fault: { kind: 'drop', when: 'after' } }, 'when'],
    [
      'a lost reply of nothing',
      { target: 'request', fault: { kind: 'reply_lost', when: 'before' } },
      'after',
    ],
    ['a detail that it lacks', { target: 'request', fault: { kind: 'reset', status: 1 } }, 'status'],
    ['a status that is none', { target: 'request', fault: { kind: 'server_error', status: 200 } }, 'status'],
    [
      'a header of two lines',
      { target: 'request', fault: { kind: 'redirect', location: 'a\r\nb' } },
      'location',
    ],
    [
      'a path of no member',
      { target: 'event', fault: { kind: 'member_null', member: '__proto__.x' } },
      'member',
    ],
    ['a rate above 1', { target: 'request', fault: 'reset', rate: 1.1 }, 'from 0 to 1'],
    ['a rate that is no number', { target: 'request', fault: 'reset', rate: '1' }, 'from 0 to 1'],
  ])('refuse %s by name', (_, { target, fault, ...often }, hint) => {
    const { faults } = createSandbox();
    const plan = () => faults.plan(target as never, fault as never, often as never);
    expect(plan).toThrow(expect.toSatisfy(isConfigurationError));
    expect(plan).toThrow(hint);
    expect(faults.list()).toEqual([]);
  });
});
