import { ExchangeClient } from '../../../../src/client/exchange-client.ts';
import type { CapturedReply } from '../../../../src/devtools/diagnostics/learn/captured-reply.ts';
import type { CapturedDelivery } from '../../../../src/devtools/diagnostics/learn/read-samples.ts';
import { createSandbox } from '../../../../src/devtools/sandbox/create-sandbox.ts';
import type { Sandbox } from '../../../../src/devtools/sandbox/sandbox.ts';
import type { JsonObject } from '../../../../src/internal/json.ts';
import { partnerCredentials } from '../../../drawn/partner.ts';
import type { ServiceOptions } from '../../../drawn/service-traits.ts';
import { order, partner } from '../../sandbox/support.ts';

const courses = [
  ['fiat_received', 'credited'],
  ['no_kyc', 'third_party_payment', 'third_party_error', 'refunded'],
] as const;

export interface Captured {
  readonly deliveries: readonly CapturedDelivery[];
  readonly replies: readonly CapturedReply[];
}

export interface CaptureOptions {
  readonly days?: number;
}

export function serviceOf(options: ServiceOptions, fetch: typeof globalThis.fetch): Sandbox {
  return createSandbox({
    // The sandbox's own default is to refuse.
    duplicateOrders: 'second',
    ...options,
    seed: 'learn',
    clock: 'manual',
    now: () => 1_704_067_200_000,
    partners: [{ email: partner.email, credentials: partnerCredentials }],
    fetch,
  });
}

/** What a partner captures of a service: on each day two orders, one that is sent twice, and one that is refused. */
export async function capture(
  options: ServiceOptions = {},
  { days = 3 }: CaptureOptions = {},
): Promise<Captured> {
  const deliveries: CapturedDelivery[] = [];
  const replies: CapturedReply[] = [];
  let ticks = 0;
  const sandbox = serviceOf(options, async (_, init) => {
    const receivedAt = new Date(now()).toISOString();
    deliveries.push({ body: String(init?.body), headers: new Headers(init?.headers), receivedAt });
    return new Response();
  });
  const now = () => {
    ticks += 5;
    return sandbox.clock.now() + ticks;
  };
  const keep = (reply: CapturedReply) => void replies.push(JSON.parse(JSON.stringify(reply)));
  const exchange = new ExchangeClient({
    deployment: sandbox.deployment,
    credentials: partnerCredentials,
    fetch: sandbox.fetch,
    maxAttempts: 1,
    now,
    onResponse: keep,
    onNoResponse: keep,
  });
  const ordered = (id: string, more: JsonObject = {}) => ({ ...order, ...more, partner_order_id: id });
  const tried = (call: unknown) => Promise.resolve(call).catch(() => {});
  await tried(exchange.createOrder(ordered('D-first')));
  await tried(exchange.whitelistIp());
  await tried(exchange.createOrder(ordered('D-first')));
  for (let day = 0; day < days; day++) {
    for (const [index, steps] of courses.entries()) {
      await tried(exchange.createOrder(ordered(`D-${day}-${index}`)));
      await sandbox.idle();
      for (const step of steps) {
        await tried(sandbox.advance(`D-${day}-${index}`, step));
        await sandbox.idle();
      }
    }
    const twice = ordered(`D-${day}-twice`);
    if (day === 0) await Promise.all([1, 2].map(() => tried(exchange.createOrder(twice))));
    else for (const _ of [1, 2]) await tried(exchange.createOrder(twice));
    // A number cannot hold it.
    await tried(exchange.createOrder(ordered(`D-${day}-refused`, { fiat_amount: '12345678901234567.89' })));
    await sandbox.idle();
    await pass(sandbox, 86_400_000);
  }
  await tried(exchange.createOrder(ordered('D-last')));
  await pass(sandbox, 60_000);
  await tried(exchange.regenerateKeys(partner));
  await sandbox.close();
  return { deliveries, replies };
}

async function pass(sandbox: Sandbox, ms: number): Promise<void> {
  const until = sandbox.clock.now() + ms;
  for (let round = 0; round < 40 && sandbox.clock.now() < until; round++) {
    const next = Math.min(sandbox.clock.nextAt ?? until, until);
    await sandbox.clock.advance(Math.max(1, next - sandbox.clock.now()));
    await sandbox.idle();
  }
  if (sandbox.clock.now() < until) await sandbox.clock.advance(until - sandbox.clock.now());
  await sandbox.idle();
}
