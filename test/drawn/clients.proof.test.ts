import { describe, expect, it } from 'vitest';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { MessengerClient } from '../../src/client/messenger-client.ts';
import { defineDeployment } from '../../src/deployment/define-deployment.ts';
import { createSandbox } from '../../src/devtools/sandbox/create-sandbox.ts';
import { isPartnerExchangeError } from '../../src/errors/errors.ts';
import { order, partner } from '../devtools/sandbox/support.ts';
import { times } from '../support/repeat.ts';
import { type DrawnService, drawService, type ServiceDimension } from './draw-service.ts';
import { partnerCredentials } from './partner.ts';

/** A call as it ended: nothing if it succeeded, otherwise the error's code and what it names. */
type Ending = { readonly code: string; readonly named: readonly string[] } | undefined;

/** The calls of a partner who knows nothing of the service but the addresses. */
async function callAll(service: DrawnService): Promise<Map<string, Ending>> {
  const sandbox = createSandbox({
    ...service.options,
    seed: service.seed,
    clock: 'manual',
    now: () => 1_700_000_000_000,
    fetch: async () => new Response(),
    partners: [{ email: partner.email, credentials: partnerCredentials }],
  });
  const { onboardingBaseUrl, stagingUrl, messengerBaseUrl } = sandbox.deployment;
  const { now } = sandbox.clock;
  const common = {
    deployment: defineDeployment({ onboardingBaseUrl, stagingUrl, messengerBaseUrl }),
    fetch: sandbox.fetch,
    now,
    maxAttempts: 1,
  };
  const exchange = new ExchangeClient({ ...common, credentials: partnerCredentials });
  const master = new MessengerClient({ ...common, masterKey: sandbox.masterKey });
  let api_key = 'none';
  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    onboard: () => exchange.onboard({ partner_code: 'other', email: 'dev@other.example' }),
    'createOrder from elsewhere': () => exchange.createOrder({ ...order, partner_order_id: 'A-0' }),
    whitelistIp: () => exchange.whitelistIp(),
    createOrder: () => exchange.createOrder(order),
    'createOrder again': () => exchange.createOrder(order),
    generateApiKey: async () => {
      const { body } = await master.generateApiKey({ messenger_device_no: '1002' });
      // Sound: only to find a key, in whatever form.
      api_key = /"api_key":"([^"]+)"/.exec(JSON.stringify(body))?.[1] ?? api_key;
      await sandbox.fetch(master.scanDeviceUrl({ api_key }));
    },
    sendMessage: () => messenger().sendMessage({ to_phone: '+2348012345678', message: 'hello' }),
    checkNumber: () => messenger().checkNumber({ to_phone: '+2348012345678' }),
    regenerateKeys: () => exchange.regenerateKeys(partner),
    'createOrder a day later': async () => {
      await sandbox.clock.advance(86_400_000);
      await exchange.createOrder({ ...order, partner_order_id: 'A-2' });
    },
  };
  const messenger = () => new MessengerClient({ ...common, apiKey: api_key });
  const endings = new Map<string, Ending>();
  for (const [name, call] of Object.entries(calls)) {
    // Without a key of a device they say nothing of the service.
    const isIdle = api_key === 'none' && (name === 'sendMessage' || name === 'checkNumber');
    if (!isIdle) endings.set(name, await endingOf(call));
  }
  await sandbox.close();
  return endings;
}

async function endingOf(call: () => Promise<unknown>): Promise<Ending> {
  try {
    await call();
    return undefined;
  } catch (error) {
    // Anything else is a crash.
    if (!isPartnerExchangeError(error)) throw error;
    return { code: error.code, named: 'assumptions' in error ? error.assumptions : [] };
  }
}

/** What happens now and then would happen at another call as soon as one goes elsewhere. */
const byChance = ['rateLimit', 'refusedThoughDone', 'deniedThoughDone'] as const;

/**
 * The calls that fail in a service, and the rows of the ledger that make them fail: the call succeeds, or fails otherwise,
 * in the same service where that row holds.
 */
async function failuresOf(seed: number) {
  const service = drawService(seed, { asDocumented: byChance });
  const endings = await callAll(service);
  const causes = new Map<string, string[]>();
  // Sound: the keys of the record.
  const differences = Object.entries(service.differences) as [ServiceDimension, readonly string[]][];
  for (const [dimension, broken] of differences) {
    if (broken.length === 0) continue;
    const other = drawService(seed, { asDocumented: [...byChance, dimension] });
    const without = await callAll(other);
    for (const [call, ending] of endings) {
      if (ending === undefined || without.get(call)?.code === ending.code) continue;
      causes.set(call, [...(causes.get(call) ?? []), ...broken]);
    }
  }
  return [...causes].map(([call, ids]) => ({
    seed: service.seed,
    call,
    ending: endings.get(call) ?? expect.unreachable(),
    causes: ids,
  }));
}

describe('a client that knows nothing of a drawn service but its addresses', () => {
  it('fails with errors of ours alone, each of which names the assumption that does not hold', async () => {
    const failures: Awaited<ReturnType<typeof failuresOf>> = [];
    for (let seed = 0; seed < times(60, 150); seed++) failures.push(...(await failuresOf(seed)));
    // A run in which nothing fails shows nothing.
    expect(failures.length).toBeGreaterThan(100);
    const unnamed = failures.filter(({ ending, causes }) => !ending.named.some((id) => causes.includes(id)));
    expect(unnamed).toEqual([]);
  }, 3_600_000);
});
