import * as z from 'zod';
import { isOrderError, isRequestError } from '../../src/errors/errors.ts';
import type { OrderJournal } from '../../src/orders/journal.ts';
import type { SandboxOrderStep } from '../../src/sandbox/orders/order-registry.ts';
import { type OrderScenario, orderScenarios } from '../../src/sandbox/orders/order-scenarios.ts';
import { add, ordersOf } from './books.ts';
import { pick, pickOf } from './plan.ts';
import { during, pickProcess, restart, type World } from './world.ts';

/** As docs/guides/sandbox.md advises: a 200 may have an error inside. Replies have the service's own names. */
function schemaOf({ plan }: World) {
  const { platform_order_ref: name = 'platform_order_ref' } = plan.service.options.wireNames ?? {};
  return z.looseObject({ [name]: z.string() });
}

function orderOf(id: string, fiat_amount: string) {
  return {
    partner_order_id: id,
    fiat_amount,
    fiat_currency: 'NGN',
    chain: 'usdt-trc20',
    buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
    partner_callback_url: 'https://partner.example/events',
  };
}

function newOrder({ books }: World): string {
  const id = `A-${books.amounts.size + 1}`;
  books.amounts.set(id, '15000.50');
  return id;
}

/** A new order: from one process, from two at once, or from one that dies on the way. */
export async function createNew(world: World): Promise<void> {
  const id = newOrder(world);
  switch (pick(world.random, ['once', 'once', 'at once', 'dies'])) {
    case 'at once':
      await during(world, Promise.all([create(world, id), create(world, id)]));
      break;
    case 'dies':
      await createAndDie(world, id);
      break;
    default:
      await create(world, id);
  }
}

/** An order that there is, once more: a restless customer, a queue, a person. */
export async function createAgain(world: World): Promise<void> {
  const id = pickOf(world.random, [...world.books.amounts.keys()]);
  if (id === undefined) return;
  // Where refusals deceive, only a person who has looked would do that.
  const again = world.plan.isHonest && world.random.chance(0.5);
  await create(world, id, again);
}

export async function prepare(world: World): Promise<void> {
  const id = newOrder(world);
  await pickProcess(world).journal.prepare(orderOf(id, '15000.50'));
}

/** Another payload under an id that the service may have. */
export async function createChanged(world: World): Promise<void> {
  const { books, random, sandbox } = world;
  const id = pickOf(random, [...books.amounts.keys()]);
  if (id === undefined) return;
  const { journal } = pickProcess(world);
  const { state } = (await journal.get(id)) ?? {};
  if (state !== 'accepted' && state !== 'unknown' && state !== 'sending') return;
  const before = requestsOf(world, id);
  const told = await tell(world, journal.create(orderOf(id, '1')));
  if (told !== 'different_order') books.breach(`${id} (${state}) with another amount: ${told}`);
  if (requestsOf(world, id) !== before) books.breach(`${id} was sent with another amount.`);
  if (ordersOf(sandbox, id).some(({ fiat_amount }) => fiat_amount === '1'))
    books.breach(`${id} was made with another amount.`);
}

async function create(world: World, id: string, again = false): Promise<void> {
  const { books, sandbox, plan } = world;
  const { journal } = pickProcess(world);
  const told = await tell(
    world,
    journal.create(orderOf(id, books.amounts.get(id) ?? ''), { again, schema: schemaOf(world) }),
  );
  const count = ordersOf(sandbox, id).length;
  if (told === 'created' && count === 0) books.breach(`${id} was told to be created, and is not there.`);
  if (plan.isHonest && ['refused', 'not-sent', 'order_refused'].includes(told) && count > 0)
    books.breach(`${id} was told to be ${told}, and is there.`);
}

/** The process dies when its request has come to the service. */
async function createAndDie(world: World, id: string): Promise<void> {
  const { books, sandbox } = world;
  const process = pickProcess(world);
  const unsubscribe = sandbox.trace.subscribe(({ kind, operation, order }) => {
    if (kind !== 'request' || operation !== 'createOrder' || order !== id || !process.isAlive()) return;
    process.die();
    add(books.deaths, id);
  });
  await tell(
    world,
    process.journal.create(orderOf(id, books.amounts.get(id) ?? ''), { schema: schemaOf(world) }),
  );
  unsubscribe();
  if (!process.isAlive()) await restart(world, process, 'killed');
}

async function tell(world: World, creating: ReturnType<OrderJournal['create']>): Promise<string> {
  try {
    await during(world, creating);
    return 'created';
  } catch (error) {
    if (isRequestError(error)) return error.outcome;
    if (isOrderError(error)) return error.code;
    world.books.breach(`create threw ${String(error)}`);
    return 'other';
  }
}

export function requestsOf({ sandbox }: World, id: string): number {
  return [...sandbox.trace].filter(
    ({ kind, operation, order }) => kind === 'request' && operation === 'createOrder' && order === id,
  ).length;
}

const steps = [
  'fiat_received',
  'no_kyc',
  'third_party_payment',
  'third_party_error',
  'credited',
  'refunded',
] as const satisfies SandboxOrderStep[];

/** An order goes on at the service: by a step, or to its end. */
export async function goOn(world: World): Promise<void> {
  const { sandbox, random } = world;
  const order = pickOf(random, sandbox.orders);
  if (order === undefined) return;
  const { platform_order_ref, state } = order;
  if (state === 'created' && random.chance(0.5)) {
    // Sound: the names are those of the table.
    const scenario = pickOf(random, Object.keys(orderScenarios)) as OrderScenario;
    await during(world, sandbox.play(platform_order_ref, scenario));
    return;
  }
  const step = pickOf(
    random,
    steps.filter((one) => one !== state),
  );
  if (step !== undefined) await during(world, sandbox.advance(platform_order_ref, step));
}

/** An event comes once more, or a copy that somebody has made. */
export async function copyEvent(world: World): Promise<void> {
  const { sandbox, random } = world;
  const delivery = pickOf(
    random,
    sandbox.deliveries.filter(({ attempts, faults }) => attempts > 0 && faults.length === 0),
  );
  if (delivery === undefined) return;
  switch (pick(random, ['again', 'forged', 'tampered'])) {
    case 'again':
      await during(world, sandbox.redeliver(delivery.id));
      break;
    case 'forged':
      await during(world, sandbox.events.forge(delivery.id));
      break;
    case 'tampered':
      await during(world, sandbox.events.tamper(delivery.id));
      break;
  }
}
