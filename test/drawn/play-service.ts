import { createSandbox } from '../../src/devtools/sandbox/create-sandbox.ts';
import type { SandboxOrderStep } from '../../src/devtools/sandbox/world/order-registry.ts';
import { order, place } from '../devtools/sandbox/support.ts';
import { drawService, type ServiceDimension } from './draw-service.ts';
import { partnerCredentials } from './partner.ts';
import type { Receiver } from './shims/registry.ts';

/** An authentic event, and how it was answered each time that it was posted. */
export interface Played {
  readonly seed: number;
  readonly name: string;
  readonly text: string;
  /** Of each receiver: statuses; 0 if there was no answer. */
  readonly answers: ReadonlyMap<Receiver, readonly number[]>;
}

/** A receiver knows how its service signs: without that it rightly refuses everything. */
const known: readonly ServiceDimension[] = [
  ...(['construction', 'serialization', 'encoding', 'orderKey', 'keySeparator', 'merchants'] as const),
  // Only whether there is an order: `clients.integration.test.ts` orders from other services.
  ...(['orderPath', 'whitelist', 'duplicateOrders'] as const),
  ...(['orderTransitions'] as const),
];

const courses: readonly (readonly SandboxOrderStep[])[] = [
  ['fiat_received', 'credited'],
  ['no_kyc', 'third_party_payment', 'third_party_error', 'refunded'],
];

/**
 * Plays two orders to their end at a drawn service, and posts their events to all receivers. It takes the worst of their
 * answers for its own, so that those which have answered with 2xx get repetitions.
 */
export async function playService(seed: number, receivers: readonly Receiver[]): Promise<Played[]> {
  const service = drawService(seed, { asDocumented: known });
  const { faults = [], ...options } = service.options;
  const answers = new Map<string, Map<Receiver, number[]>>();
  const sandbox = createSandbox({
    ...options,
    seed: service.seed,
    whitelist: 'off',
    clock: 'manual',
    now: () => 1_700_000_000_000,
    partners: [{ credentials: partnerCredentials }],
    faults: faults.filter(({ target }) => target === 'event'),
    async fetch(input, init) {
      const text = String(init?.body);
      const given = answers.get(text) ?? new Map<Receiver, number[]>();
      answers.set(text, given);
      const statuses = await Promise.all(
        receivers.map(async (receiver) => {
          const response = await receiver.fetch(new Request(input, init)).catch(() => undefined);
          const status = response?.status ?? 0;
          given.set(receiver, [...(given.get(receiver) ?? []), status]);
          return status;
        }),
      );
      return new Response(null, { status: Math.max(...statuses, 200) });
    },
  });
  for (const [index, steps] of courses.entries()) {
    const partner_order_id = `D-${seed}-${index}`;
    const partner_callback_url = 'https://partner.example/orders/P-1';
    await place(sandbox, partnerCredentials, { ...order, partner_order_id, partner_callback_url });
    await sandbox.idle();
    for (const step of steps) {
      await sandbox.advance(partner_order_id, step);
      await sandbox.idle();
    }
  }
  // Some services repeat for ever.
  for (let round = 0; round < 2; round++) {
    const { nextAt, now, advance } = sandbox.clock;
    if (nextAt === undefined) break;
    await advance(nextAt - now());
    await sandbox.idle();
  }
  const played = sandbox.deliveries
    .filter(({ attempts }) => attempts > 0)
    .map(({ name, body }) => ({ seed, name, text: body, answers: answers.get(body) ?? new Map() }));
  await sandbox.close();
  return played;
}
