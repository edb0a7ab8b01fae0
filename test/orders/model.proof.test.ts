import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { createKeyRing } from '../../src/credentials/create-key-ring.ts';
import { defineDeployment } from '../../src/deployment/define-deployment.ts';
import { isPartnerExchangeError } from '../../src/errors/errors.ts';
import type { CreatedOrder, OrderJournal } from '../../src/orders/journal-types.ts';
import { createOrderJournal } from '../../src/orders/order-journal.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { bases } from '../deployment/bases.ts';
import { times } from '../support/repeat.ts';
import { keySets, order, senderOf } from './service.ts';

const modes = ['unknown', 'refused', 'same-order'] as const;
type Mode = (typeof modes)[number];

const leaseMs = 1000;
const minute = 60_000;

/** What befalls one request. */
interface Way {
  readonly reaches: boolean;
  readonly refuses: boolean;
  readonly reply: 'delivered' | 'lost' | '5xx';
  /** What happens between the service's act and the reply. */
  readonly meanwhile: 'nothing' | 'event' | 'lease-expires' | 'same-create';
}

/** The service as it is: what a journal can only find out. */
class World {
  readonly clock = { now: 1_700_000_000_000 };
  /** The orders that were made under each id. */
  readonly made = new Map<string, string[]>();
  /** The truth of the last request, by id. */
  way: Way = { reaches: true, refuses: false, reply: 'delivered', meanwhile: 'nothing' };
  meanwhile: (id: string) => Promise<void> = async () => {};
  readonly mode: Mode;
  readonly store: RecordStore;
  journal: OrderJournal;
  /** The key that the service takes: it is another one as soon as new keys are asked for. */
  key = 0;
  /** The key of the partner's storage. */
  storedKey = 0;

  constructor(mode: Mode) {
    this.mode = mode;
    this.store = memoryStore({ now: () => this.clock.now });
    this.journal = this.restart();
  }

  get awaitsKeys(): boolean {
    return this.key !== this.storedKey;
  }

  restart(): OrderJournal {
    this.journal = createOrderJournal({
      exchange: senderOf(
        new ExchangeClient({
          deployment: defineDeployment(bases),
          credentials: createKeyRing({
            load: () => keySets(String(this.storedKey), { awaited: this.awaitsKeys }),
            now: () => this.clock.now,
          }),
          fetch: (request) => this.#answer(request),
          maxAttempts: 1,
        }),
      ),
      store: this.store,
      now: () => this.clock.now,
      leaseMs,
      duplicateIds: this.mode,
    });
    return this.journal;
  }

  has(id: string): boolean {
    return this.made.has(id);
  }

  async #answer(request: Request): Promise<Response> {
    const { way } = this;
    if (!way.reaches) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    if (request.headers.get('authorization') !== `Bearer pk_partner_${this.key}`)
      return Response.json({ ok: true }, { status: 401 });
    const { partner_order_id: id, fiat_amount } = await request.json();
    const status = way.refuses ? 400 : this.#make(id, fiat_amount);
    await this.meanwhile(id);
    if (way.reply === 'lost') throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
    return Response.json({ ok: true }, { status: way.reply === '5xx' ? 503 : status });
  }

  #make(id: string, amount: string): number {
    const made = this.made.get(id) ?? [];
    if (made.length > 0 && this.mode === 'refused') return 409;
    if (made.length > 0 && this.mode === 'same-order') return 200;
    this.made.set(id, [...made, amount]);
    return 200;
  }
}

/** What the journal should know of an order: the table of its documentation, written a second time. */
interface Expected {
  state: string;
  amount: string;
  /** Whether a person was told of it since somebody asked for it. */
  handedOver?: boolean | undefined;
  /** When a reply accepted it, until its first event or a person. */
  awaits?: number | undefined;
}
type Model = Map<string, Expected>;
type Command = fc.AsyncCommand<Model, World>;

const orderOf = (id: string, amount: string) => ({ ...order, partner_order_id: id, fiat_amount: amount });

interface Creation {
  readonly id: string;
  readonly amount: string;
  readonly again: boolean;
  readonly replace: boolean;
  readonly way: Way;
}

const create = (given: Creation): Command => ({
  check: () => true,
  toString: () => `create(${JSON.stringify(given)})`,
  async run(model, world) {
    const { id, amount, again, replace, way } = given;
    const before = model.get(id);
    const meets = playWay(world, way, amount);
    let created: CreatedOrder | undefined;
    const thrown = await codeOf(
      world.journal.create(orderOf(id, amount), { again, replace }).then((result) => {
        created = result;
      }),
    );
    const forbidden = codeWithoutRequest(before, given, world.mode);
    if (forbidden === 'different_order') {
      expect([thrown, created]).toEqual([forbidden, undefined]);
      return;
    }
    expect(thrown).toBe('ok');
    const { error } = created ?? {};
    const code = error === undefined ? 'ok' : isPartnerExchangeError(error) ? error.code : error;
    if (forbidden !== undefined) {
      expect([created?.state, code, created?.reply]).toEqual([before?.state, forbidden, undefined]);
      return;
    }
    const outcome = noteAttempt(model, world, { id, amount, way, before, hadEvent: meets.has(id) });
    expect(created?.state).toBe(outcome);
    expect(code === 'ok').toBe(outcome === 'accepted');
    if (outcome === 'waiting') expect(code).toBe('waiting_for_keys');
    else if (outcome !== 'refused' && outcome !== 'not-sent')
      expect(code).toBeOneOf(['ok', 'outcome_unknown', 'network_error', 'http_error']);
    if (before?.state === 'unknown' && outcome === 'unknown' && !(way.reaches && way.reply !== 'delivered')) {
      expect(code).toBe('outcome_unknown');
    }
  },
});

/** The loop looks at the journal until it has sent all that is open. */
const runLoop = (way: Way): Command => ({
  check: () => true,
  toString: () => `runLoop(${JSON.stringify(way)})`,
  async run(model, world) {
    // Every pause is over, and every unknown order is old enough.
    world.clock.now += minute;
    const meets = playWay(world, way, '1');
    const toSend = [...model].filter(([, { state }]) => ['prepared', 'not-sent', 'waiting'].includes(state));
    const toHandOver = [...model].filter(([, { state, handedOver }]) => state === 'unknown' && !handedOver);
    const handedOver: string[] = [];
    const looked = Promise.withResolvers<void>();
    const loop = world.journal.start({
      load: ({ partner_order_id: id }) => orderOf(id, model.get(id)?.amount ?? ''),
      onUnknown: ({ partner_order_id }, reason) => handedOver.push(`${partner_order_id} ${reason}`),
      onError: (error) => expect(isPartnerExchangeError(error)).toBe(true),
      maxAgeMs: 1_000 * hour,
      evidenceWithinMs: 0,
      sleep: (_, signal) => {
        looked.resolve();
        return new Promise((resolve) => {
          if (signal.aborted) resolve();
          else signal.addEventListener('abort', () => resolve());
        });
      },
    });
    await looked.promise;
    await loop.stop();
    expect(handedOver.toSorted()).toEqual(toHandOver.map(([id]) => `${id} outcome_unknown`).toSorted());
    for (const [, expected] of toHandOver) expected.handedOver = true;
    for (const [id, before] of toSend)
      noteAttempt(model, world, { ...before, id, way, before, hadEvent: meets.has(id) });
  },
});

/** Keys are asked for, and the old ones die; or the new ones come. */
const changeKeys = (step: 'die' | 'come'): Command => ({
  check: () => true,
  toString: () => `keys(${step})`,
  async run(_, world) {
    if (step === 'come') world.storedKey = world.key;
    else if (!world.awaitsKeys) world.key++;
  },
});

/** Sets what befalls the next requests. Returns the orders whose event comes before the reply. */
function playWay(world: World, way: Way, amount: string): ReadonlySet<string> {
  const observed = new Set<string>();
  world.way = way;
  world.meanwhile = async (id) => {
    if (way.meanwhile === 'event' && world.has(id)) {
      observed.add(id);
      await world.journal.observe({ partner_order_id: id });
    }
    if (way.meanwhile === 'lease-expires') world.clock.now += leaseMs;
    if (way.meanwhile === 'same-create') {
      const second = await world.journal.create(orderOf(id, amount));
      expect(second).toMatchObject({ state: 'sending', error: { code: 'in_progress' } });
    }
  };
  return observed;
}

/** Writes down what a request has made of an order. */
function noteAttempt(model: Model, world: World, { id, amount, way, before, hadEvent }: AttemptMade): string {
  const outcome = outcomeOf(way, before, { hadEvent, has: world.has(id), world });
  const awaits = outcome !== 'accepted' || hadEvent ? undefined : world.clock.now;
  model.set(id, { state: outcome, amount, awaits });
  if (outcome === 'accepted') expect(world.has(id)).toBe(true);
  if (['refused', 'not-sent', 'waiting'].includes(outcome)) expect(world.has(id)).toBe(false);
  return outcome;
}

interface AttemptMade {
  readonly id: string;
  readonly amount: string;
  readonly way: Way;
  readonly before: Expected | undefined;
  readonly hadEvent: boolean;
}

const unsentStates = ['prepared', 'refused', 'waiting', 'not-sent'];

function codeWithoutRequest(before: Expected | undefined, given: Creation, mode: Mode): string | undefined {
  if (before === undefined) return undefined;
  const same = before.amount === given.amount;
  if (!same && !(given.replace && unsentStates.includes(before.state))) return 'different_order';
  if (before.state === 'accepted') return 'ok';
  if (before.state === 'abandoned') return 'order_abandoned';
  if (before.state === 'unknown' && mode === 'unknown') return 'outcome_unknown';
  return before.state === 'refused' && same && !given.again ? 'order_refused' : undefined;
}

function outcomeOf(
  way: Way,
  before: Expected | undefined,
  { hadEvent, has, world }: { hadEvent: boolean; has: boolean; world: World },
): string {
  const wasUnknown = before?.state === 'unknown';
  if (!way.reaches) return wasUnknown ? 'unknown' : 'not-sent';
  // Refused before anything else: the service did not act.
  if (world.awaitsKeys) return wasUnknown ? 'unknown' : 'waiting';
  if (hadEvent) return 'accepted';
  if (way.reply !== 'delivered') return 'unknown';
  if (!way.refuses) return 'accepted';
  // A refusal settles nothing that was unknown before.
  expect(has && world.mode === 'unknown').toBe(false);
  return wasUnknown ? 'unknown' : 'refused';
}

const observe = (id: string): Command => ({
  check: () => true,
  toString: () => `observe(${id})`,
  async run(model, world) {
    if (!world.has(id)) return;
    const expected = model.get(id);
    const { result } = await world.journal.observe({ partner_order_id: id });
    if (expected === undefined) throw new Error('The service has an order that was never sent.');
    const isKnown = expected.state === 'accepted';
    const isUnexpected = expected.state === 'abandoned';
    expect(result).toBe(isKnown ? 'known' : isUnexpected ? 'contradiction' : 'accepted');
    expected.state = 'accepted';
    expected.awaits = undefined;
  },
});

/** A person who has looked at the service. */
const settle = (id: string): Command => ({
  check: () => true,
  toString: () => `settle(${id})`,
  async run(model, world) {
    const decision = world.has(id) ? 'accepted' : 'abandoned';
    const expected = model.get(id);
    const code = await codeOf(world.journal.settle(id, decision, 'Looked.'));
    if (expected === undefined) expect(code).toBe('order_not_found');
    else if (isOpen(expected) || isOverdue(expected, world)) {
      expect(code).toBe('ok');
      expected.state = decision;
      expected.awaits = undefined;
    } else expect(code).toBe(expected.state === decision ? 'ok' : 'already_settled');
  },
});

const prepare = (id: string, amount: string, replace: boolean): Command => ({
  check: () => true,
  toString: () => `prepare(${id}, ${amount}, ${replace})`,
  async run(model, world) {
    const before = model.get(id);
    const code = await codeOf(world.journal.prepare(orderOf(id, amount), { replace }));
    const same = before === undefined || before.amount === amount;
    const isOpenToChange = before === undefined || unsentStates.includes(before.state);
    if (!same && !(replace && isOpenToChange)) expect(code).toBe('different_order');
    else if (before?.state === 'abandoned') expect(code).toBe('order_abandoned');
    else if (before?.state === 'refused' && same) expect(code).toBe('order_refused');
    else {
      expect(code).toBe('ok');
      if (isOpenToChange) model.set(id, { state: 'prepared', amount });
    }
  },
});

const wait = (ms: number): Command => ({
  check: () => true,
  toString: () => `wait(${ms})`,
  async run(_, world) {
    world.clock.now += ms;
    world.restart();
  },
});

function isOpen({ state }: Expected): boolean {
  return ['prepared', 'waiting', 'unknown', 'not-sent'].includes(state);
}

function isOverdue({ awaits }: Expected, { clock }: World): boolean {
  return awaits !== undefined && clock.now - awaits >= hour;
}

const hour = 3_600_000;

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'ok';
  } catch (error) {
    if (isPartnerExchangeError(error)) return error.code;
    throw error;
  }
}

const ids = fc.constantFrom('a', 'b', 'c');
const amounts = fc.constantFrom('1', '1', '2');
const way: fc.Arbitrary<Way> = fc.record({
  reaches: fc.constantFrom(true, true, true, false),
  refuses: fc.constantFrom(false, false, true),
  reply: fc.constantFrom('delivered', 'delivered', 'lost', '5xx'),
  meanwhile: fc.constantFrom('nothing', 'nothing', 'event', 'lease-expires', 'same-create'),
});
/** In a loop the clock stands still, so that it sends each order once. */
const loopWay = way.map((given) => ({
  ...given,
  meanwhile: given.meanwhile === 'event' ? ('event' as const) : ('nothing' as const),
}));
const commands = fc.commands(
  [
    fc.record({ id: ids, amount: amounts, again: fc.boolean(), replace: fc.boolean(), way }).map(create),
    loopWay.map(runLoop),
    fc.constantFrom('die', 'come', 'come').map(changeKeys),
    ids.map(observe),
    ids.map(settle),
    fc.tuple(ids, amounts, fc.boolean()).map(([id, amount, replace]) => prepare(id, amount, replace)),
    fc.constantFrom(1, leaseMs, 100 * leaseMs, hour).map(wait),
  ],
  { maxCommands: 40, size: 'max' },
);

describe('the journal does what its table says, and never makes a second order', () => {
  it.each(modes)(
    'with duplicateIds %s',
    async (mode) => {
      await fc.assert(
        fc.asyncProperty(commands, async (steps) => {
          const model: Model = new Map();
          const world = new World(mode);
          await fc.asyncModelRun(() => ({ model, real: world }), steps);
          const { journal, made } = world;
          for (const [id, orders] of made) expect([id, orders.length]).toEqual([id, 1]);
          for (const [id, expected] of model) {
            expect(await journal.get(id)).toMatchObject({ state: expected.state });
          }
          const open_ = [...model]
            .filter(([, expected]) => isOpen(expected) || isOverdue(expected, world))
            .map(([id]) => id);
          const listed = (await journal.unsettled()).map(({ partner_order_id }) => partner_order_id);
          expect(listed.sort()).toEqual(open_.sort());
          // Every order that the service has is known once its event comes.
          for (const id of made.keys()) {
            await journal.observe({ partner_order_id: id });
            expect(await journal.get(id)).toMatchObject({ state: 'accepted' });
          }
        }),
        { numRuns: times(60, 400) },
      );
    },
    60_000,
  );
});
