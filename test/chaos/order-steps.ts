import * as z from 'zod';
import { type OrderScenario, orderScenarios } from '../../src/devtools/sandbox/service/order-scenarios.ts';
import type { SeededRandom } from '../../src/devtools/sandbox/settings/seeded-random.ts';
import { orderSteps, type SandboxOrder } from '../../src/devtools/sandbox/world/order-registry.ts';
import {
  isKeyError,
  isOrderError,
  isRequestError,
  isStoreError,
  isValidationError,
} from '../../src/errors/errors.ts';
import type { JournaledOrder } from '../../src/orders/journaled-order.ts';
import { addTo, ordersOf } from './books.ts';
import type { PartnerProcess } from './partner-process.ts';
import { pick } from './plan.ts';
import type { PartnerName, Step, World } from './world.ts';

/** As docs/guides/sandbox.md advises: a 200 may have an error inside. Replies have the service's own names. */
function schemaOf({ plan }: World) {
  const { platform_order_ref: name = 'platform_order_ref' } =
    plan.service.options.deployment?.wireNames ?? {};
  return z.looseObject({ [name]: z.string() });
}

/** Marks that must not stay anywhere once all is handled. */
export const personal = { email: 'ada.secret@buyer.example', phone: '+2348099999999', name: 'Adaobiprivate' };

export function orderOf(id: string, fiat_amount: string) {
  return {
    partner_order_id: id,
    fiat_amount,
    fiat_currency: 'NGN',
    chain: 'usdt-trc20',
    buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
    partner_callback_url: `https://partner.example/events/${ownerOf(id)}`,
    buyer_email: personal.email,
    buyer_phone: personal.phone,
    first_name: personal.name,
    last_name: 'Obi',
  };
}

function ownerOf(id: string): PartnerName {
  return id.startsWith('b') ? 'b' : 'a';
}

export function journalOf({ partners }: PartnerProcess, id: string) {
  return partners[ownerOf(id)].journal;
}

function newOrder({ books, plan }: World, random: { chance: (p: number) => boolean }): string {
  const owner = plan.partners === 2 && random.chance(0.5) ? 'b' : 'a';
  const id = `${owner}-${books.amounts.size + 1}`;
  books.amounts.set(id, '15000.50');
  addTo(books.payloads, id, '15000.50');
  return id;
}

/** A new order: from one process, from two at once, or from one that dies on the way. */
export const createNew: Step = async (world, random) => {
  const id = newOrder(world, random);
  switch (pick(random, ['once', 'once', 'insists', 'at once', 'dies'])) {
    case 'at once':
      await Promise.all([create(world, id, world.pick(random)), create(world, id, world.pick(random))]);
      break;
    case 'dies':
      await createAndDie(world, id, world.pick(random));
      break;
    case 'insists':
      await insist(world, id, random);
      break;
    case 'once':
      await create(world, id, world.pick(random));
  }
};

/** A caller who sends the same order until something is known of it. */
async function insist(world: World, id: string, random: SeededRandom): Promise<void> {
  for (let tries = 0; tries < 5; tries++) {
    const told = await create(world, id, world.pick(random));
    if (told === 'created' || told === 'order_refused') return;
    await world.simulation.delay(1_000 + random.fraction() * 40_000);
  }
}

/** An order that there is, once more: a restless customer, a queue, a person. */
export const createAgain: Step = async (world, random) => {
  const id = random.pick([...world.books.amounts.keys()]);
  // Where refusals deceive, only a person who has looked would do that.
  const again = world.plan.isHonest && random.chance(0.5);
  if (id !== undefined) await create(world, id, world.pick(random), again);
};

export const prepare: Step = async (world, random) => {
  const process = world.pick(random);
  if (process === undefined) return;
  const id = newOrder(world, random);
  await tell(world, process, () => journalOf(process, id).prepare(orderOf(id, '15000.50')));
};

/** Another payload under an id: of a careless program, of a person who replaces the order, in the row of the shop. */
export const createChanged: Step = async (world, random) => {
  const { books, simulation, plan } = world;
  const process = world.pick(random);
  const id = random.pick([...books.amounts.keys()]);
  if (process === undefined || id === undefined) return;
  const journal = journalOf(process, id);
  const known = await simulation.within(process.machine, () => journal.get(id).catch(() => undefined));
  // The first payload is the order.
  if (known === undefined) return;
  const amount = String(1_000 + Math.floor(random.fraction() * 1_000_000));
  const order = orderOf(id, amount);
  switch (pick(random, ['create', 'create', 'prepare', 'replace', 'row'])) {
    case 'create':
    case 'prepare': {
      const told = await tell(world, process, () =>
        random.chance(0.5) ? journal.create(order) : journal.prepare(order),
      );
      if (told === 'created') books.breach(`${id} (${known.state}) became another order.`);
      break;
    }
    case 'replace':
      // Where refusals deceive, only a person who has looked would do that.
      if (plan.isHonest && !books.replaced.has(id)) await replace(world, id, { process, amount, random });
      break;
    case 'row':
      if (plan.ordering !== 'loop' || books.rows.has(id)) return;
      books.rows.set(id, amount);
      await simulation.delay(30_000 + random.fraction() * 30_000);
      books.rows.delete(id);
  }
};

/** What `tell` says of an order whose intent was written. */
const written: ReadonlySet<string> = new Set([
  ...['created', 'refused', 'not-sent', 'unknown'],
  ...['order_refused', 'outcome_unknown', 'rate_limited', 'waiting_for_keys'],
]);

/** A person has changed an order that the service does not have. */
async function replace(
  world: World,
  id: string,
  { process, amount, random }: { process: PartnerProcess; amount: string; random: SeededRandom },
): Promise<void> {
  const { books } = world;
  const journal = journalOf(process, id);
  const order = orderOf(id, amount);
  addTo(books.payloads, id, amount);
  books.replaced.add(id);
  const isNow = random.chance(0.7);
  const told = await tell(world, process, () =>
    isNow
      ? journal.create(order, { replace: true, schema: schemaOf(world) })
      : journal.prepare(order, { replace: true }),
  );
  if (written.has(told)) {
    books.amounts.set(id, amount);
    world.count('an order was replaced');
  }
  if (written.has(told) || told === 'different_order') books.replaced.delete(id);
}

const [ofTron, ofEvm] = ['TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP', '0x52908400098527886E0F7030069857D2E4169EE7'];

/** Chains as partners spell them, each with an address of another network. */
const misdirections = [
  { chain: 'USDT-TRC20', buyer_crypto_address: ofEvm },
  { chain: 'usdt_trc20', buyer_crypto_address: ofEvm },
  { chain: ' Usdc-Trc20', buyer_crypto_address: ofEvm },
  { chain: 'USDC-MATIC', buyer_crypto_address: ofTron },
  { chain: 'usdt-Matic', buyer_crypto_address: ofTron },
];

/** An order whose crypto would be lost: nothing of it may be sent. */
export const createMisdirected: Step = async (world, random) => {
  const { books } = world;
  const process = world.pick(random);
  if (process === undefined) return;
  const id = `a-misdirected-${books.misdirected.size + 1}`;
  books.misdirected.add(id);
  const order = { ...orderOf(id, '15000.50'), ...random.pick(misdirections) };
  const told = await tell(world, process, () => journalOf(process, id).create(order));
  if (told === 'created') books.breach(`${id} was told to be created.`);
};

/** A person looks at what differs from an order, thinks, while the order goes on, and decides about what was there. */
export const decide: Step = async (world, random) => {
  const { books, sandbox, simulation } = world;
  const process = world.pick(random);
  if (process === undefined) return;
  const found: JournaledOrder[] = [];
  await tell(world, process, async () => {
    for (const { journal } of Object.values(process.partners))
      for await (const order of journal.list({ attention: true }))
        if (order.attention === 'mismatch') found.push(order);
  });
  const looked = random.pick(found);
  if (looked === undefined) return;
  const { partner_order_id: id } = looked;
  const events = undecided(looked);
  for (let count = 0; count < 3; count++) {
    const [placed] = ordersOf(sandbox, id);
    if (placed !== undefined) await advance(world, placed, random);
  }
  await simulation.delay(random.fraction() * 30_000);
  const decider = world.pick(random);
  if (decider === undefined) return;
  const decision = pick(random, ['accepted', 'rejected']);
  for (const digest of events) addTo(books.decisions, digest, decision);
  await tell(world, decider, async () => {
    const settled = await journalOf(decider, id).settle(id, decision, 'looked at it', { events });
    if (undecided(settled).length > 0) world.count('an event came while a person looked at another one');
  });
};

function undecided({ events = [] }: JournaledOrder): string[] {
  return events
    .filter(({ differences, decision }) => differences !== undefined && decision === undefined)
    .map(({ digest }) => digest);
}

async function create(
  world: World,
  id: string,
  process: PartnerProcess | undefined,
  again = false,
): Promise<string> {
  const { books, sandbox, plan, simulation } = world;
  if (process === undefined) return 'no process';
  const order = orderOf(id, books.amounts.get(id) ?? '');
  const journal = journalOf(process, id);
  const told = await tell(world, process, async () => {
    const created = await journal.create(order, { again, schema: schemaOf(world) });
    if (created.error === undefined && created.state !== 'accepted')
      books.breach(`${id} was told to be ${created.state}, and not why.`);
    return created;
  });
  simulation.log(`${id} of ${process.machine.name}: ${told}`);
  const count = ordersOf(sandbox, id).length;
  if (told === 'created' && count === 0) books.breach(`${id} was told to be created, and is not there.`);
  // Where clocks jump, a lease may end while its request is on its way.
  const isTimeTricky = plan.clocks === 'jumping' || plan.disturbances.stall > 0;
  const isDenied = ['refused', 'not-sent', 'order_refused'].includes(told);
  if (plan.isHonest && isDenied && count > 0 && !isTimeTricky)
    books.breach(`${id} was told to be ${told}, and is there.`);
  return told;
}

/** The process dies when its request has come to the service. */
async function createAndDie(world: World, id: string, process: PartnerProcess | undefined): Promise<void> {
  if (process === undefined) return;
  const { machine } = process;
  const forget = world.sandbox.trace.subscribe(({ kind, operation, order }) => {
    if (kind !== 'request' || operation !== 'createOrder' || order !== id || !machine.isAlive) return;
    world.count('a process died while it sent an order');
    void world.die(machine, `while it sends (${operation})`);
  });
  machine.onDeath(forget);
  await create(world, id, process);
  forget();
}

/** What a caller is told of an order: `created`, or the outcome or code of the error. */
async function tell(
  world: World,
  { machine }: PartnerProcess,
  creating: () => Promise<unknown>,
): Promise<string> {
  try {
    const { error } = Object(await world.simulation.within(machine, creating));
    return error === undefined ? 'created' : toldBy(world, error);
  } catch (error) {
    return toldBy(world, error);
  }
}

function toldBy(world: World, error: unknown): string {
  if (isRequestError(error)) return error.outcome;
  if (isOrderError(error) || isStoreError(error) || isKeyError(error) || isValidationError(error))
    return error.code;
  world.books.breach(`create failed with ${error instanceof Error ? error.stack : String(error)}`);
  return 'other';
}

export function requestsOf({ sandbox }: World, id: string): number {
  return [...sandbox.trace].filter(
    ({ kind, operation, order }) => kind === 'request' && operation === 'createOrder' && order === id,
  ).length;
}

/** An order goes on at the service: by a step, or to its end. */
export const goOn: Step = async (world, random) => {
  const { sandbox, simulation, service } = world;
  const order = random.pick(sandbox.orders);
  if (order === undefined) return;
  const { platform_order_ref, state } = order;
  if (state === 'created' && random.chance(0.5)) {
    // Sound: the names are those of the table.
    const scenario = random.pick(Object.keys(orderScenarios)) as OrderScenario;
    await simulation.within(service, () => sandbox.play(platform_order_ref, scenario));
    return;
  }
  await advance(world, order, random);
};

async function advance(
  { sandbox, simulation, service }: World,
  { platform_order_ref, state }: SandboxOrder,
  random: SeededRandom,
): Promise<void> {
  const step = random.pick(orderSteps.filter((one) => one !== state));
  if (step !== undefined) await simulation.within(service, () => sandbox.advance(platform_order_ref, step));
}

/** An event comes once more, or a copy that somebody has made. */
export const copyEvent: Step = async ({ sandbox, simulation, service }, random) => {
  const delivery = random.pick(
    sandbox.deliveries.filter(({ attempts, faults }) => attempts > 0 && faults.length === 0),
  );
  if (delivery === undefined) return;
  const { id } = delivery;
  await simulation.within(service, async () => {
    await sandbox.redeliver(id, pick(random, ['again', 'again', 'forged', 'tampered']));
  });
};
