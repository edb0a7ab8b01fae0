import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createKeyRing, type KeyRingOptions } from '../../src/credentials/create-key-ring.ts';
import type { KeyRing } from '../../src/credentials/key-ring.ts';
import { RequestError } from '../../src/errors/errors.ts';
import { createKeyRotation, type KeyRotation } from '../../src/keys/create-key-rotation.ts';
import type { KeyStorage } from '../../src/keys/rotation-state.ts';
import type { RotationStatus } from '../../src/keys/rotation-steps.ts';
import { storedKeys } from '../../src/keys/stored-keys.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { createWebhooks } from '../../src/webhooks/create-webhooks.ts';
import { partner } from '../client/clients.ts';
import { eventSignedBy, generation } from '../credentials/keys.ts';
import { times } from '../support/repeat.ts';

const hour = 3_600_000;
const overlapMs = 24 * hour;

/** What a rotation must remember, in the simplest form. */
interface Model {
  time: number;
  current?: number;
  pending?: number;
  request: 'none' | 'unknown' | 'answered';
  /** The newest first. */
  replaced: { name: number; at: number }[];
  /** Every key that was ever received. */
  received: Set<number>;
  /** How often the service was asked. */
  asked: number;
}

interface Real {
  readonly storage: KeyStorage;
  asked: number;
  time: number;
  /** A receiver that stays up, with a ring that is read again as rarely as possible. */
  readonly ring: KeyRing;
  readonly accepts: (name: number) => Promise<boolean>;
}

type Command = fc.AsyncCommand<Model, Real>;

/** Ends the process in one update of the storage; without one the step runs to its end. */
type Fault = { readonly at: number; readonly crash: Crash } | undefined;

function rotationOf(real: Real, { fault, outcome }: { fault?: Fault; outcome?: Outcome } = {}): KeyRotation {
  return createKeyRotation({
    storage: fault === undefined ? real.storage : crashing(real.storage, fault.at, fault.crash),
    overlapMs,
    now: () => real.time,
    exchange: {
      regenerateKeys: async () => {
        real.asked += 1;
        if (outcome !== undefined && outcome !== 'accepted') throw failed(outcome);
        return { status: 200, headers: new Headers(), body: {}, decimal: () => undefined };
      },
    },
  });
}

type Outcome = 'accepted' | 'refused' | 'unknown';

function failed(outcome: 'refused' | 'unknown'): RequestError {
  return new RequestError('http_error', 'x', {
    outcome,
    operation: 'regenerateKeys',
    method: 'POST',
    url: 'x',
  });
}

/** The code or the kind of what a step ends with. */
async function endOf(step: Promise<unknown>): Promise<string> {
  try {
    await step;
    return 'done';
  } catch (error) {
    if (error instanceof Crashed) return 'crashed';
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

/** What holds at any time, whatever has happened. */
async function check(model: Model, real: Real): Promise<void> {
  const rotation = rotationOf(real);
  const status = await rotation.status();
  expect(status.step).toBe(stepOf(model));
  expect(real.asked).toBe(model.asked);
  if (model.current === undefined) return;
  const valid = model.replaced
    .filter(({ at }) => at + overlapMs + hour >= model.time)
    .map(({ name }) => name);
  const names = [model.current, ...(model.pending === undefined ? [] : [model.pending]), ...valid];
  const { verifying, signing, pending } = await rotation.credentials();
  expect(verifying.map(nameOf)).toEqual(names);
  expect([nameOf(signing), pending && nameOf(pending)]).toEqual([model.current, model.pending]);
}

function nameOf({ partnerPublicKey }: { partnerPublicKey: string }): number {
  return Number(partnerPublicKey.replace('pk_partner_', ''));
}

function stepOf({ current, pending, request }: Model): RotationStatus['step'] {
  if (current === undefined) return 'empty';
  if (pending !== undefined) return 'received';
  return request === 'none' ? 'idle' : request === 'answered' ? 'requested' : 'unknown';
}

/** A step that makes one change of the storage: `expected` says what it ends with, and makes it in the model. */
class Step implements Command {
  readonly #name: string;
  readonly #crash: Crash | undefined;
  readonly #run: (rotation: KeyRotation) => Promise<unknown>;
  readonly #expected: (model: Model) => string;

  constructor(
    name: string,
    crash: Crash | undefined,
    run: (rotation: KeyRotation) => Promise<unknown>,
    expected: (model: Model) => string,
  ) {
    this.#name = name;
    this.#crash = crash;
    this.#run = run;
    this.#expected = expected;
  }

  check = () => true;

  async run(model: Model, real: Real): Promise<void> {
    const fault: Fault = this.#crash && { at: 0, crash: this.#crash };
    const end = await endOf(this.#run(rotationOf(real, { fault })));
    if (this.#crash === 'before') expect(end).toBe('crashed');
    else {
      const expected = this.#expected(model);
      expect(end).toBe(this.#crash === 'after' && expected === 'done' ? 'crashed' : expected);
    }
    await check(model, real);
  }

  toString = () => `${this.#name}${this.#crash ? `, crash ${this.#crash} the write` : ''}`;
}

function receive(name: number, crash?: Crash): Command {
  return new Step(
    `receive ${name}`,
    crash,
    (rotation) => rotation.receive(generation(name)),
    (model) => {
      if (model.pending === name) return 'done';
      if (model.current === name && model.pending === undefined) {
        return model.request === 'none' ? 'done' : 'keys_known';
      }
      model.received.add(name);
      if (model.current === undefined) {
        model.current = name;
        return 'done';
      }
      if (model.pending !== undefined) model.replaced.unshift({ name: model.pending, at: model.time });
      delete model.pending;
      if (model.current === name) return 'done';
      model.replaced = model.replaced.filter((each) => each.name !== name);
      model.pending = name;
      return 'done';
    },
  );
}

function promote(crash?: Crash): Command {
  return new Step(
    'promote',
    crash,
    (rotation) => rotation.promote(),
    (model) => {
      if (model.pending === undefined) {
        if (model.request !== 'none') return 'keys_not_received';
        return model.current === undefined ? 'keys_unavailable' : 'done';
      }
      const valid = model.replaced.filter(({ at }) => at + overlapMs + hour >= model.time);
      // Sound: keys are pending only beside current ones.
      model.replaced = [{ name: model.current as number, at: model.time }, ...valid];
      model.current = model.pending;
      delete model.pending;
      model.request = 'none';
      return 'done';
    },
  );
}

class Request implements Command {
  readonly #options: { readonly outcome: Outcome; readonly again: boolean; readonly fault: Fault };

  constructor(options: { outcome: Outcome; again: boolean; fault: Fault }) {
    this.#options = options;
  }

  check = () => true;

  async run(model: Model, real: Real): Promise<void> {
    const { outcome, again, fault } = this.#options;
    const end = await endOf(rotationOf(real, { fault, outcome }).request(partner, { again }));
    expect(end).toBe(this.#expected(model));
    await check(model, real);
  }

  #expected(model: Model): string {
    const { outcome, again, fault } = this.#options;
    if (fault?.at === 0 && fault.crash === 'before') return 'crashed';
    if (model.current === undefined) return 'keys_unavailable';
    if (model.pending !== undefined) return 'rotation_pending';
    if (model.request !== 'none' && !again) {
      return model.request === 'answered' ? 'rotation_pending' : 'rotation_unknown';
    }
    const before = model.request;
    model.request = 'unknown';
    if (fault?.at === 0) return 'crashed';
    model.asked += 1;
    if (outcome === 'unknown') return 'http_error';
    const isNoted = fault === undefined || fault.crash === 'after';
    if (isNoted) model.request = outcome === 'accepted' ? 'answered' : before;
    // What the service said is more telling than that it could not be noted.
    if (outcome === 'refused') return 'http_error';
    return fault === undefined ? 'done' : 'crashed';
  }

  toString = () => `request ${JSON.stringify(this.#options)}`;
}

class Wait implements Command {
  readonly #ms: number;

  constructor(ms: number) {
    this.#ms = ms;
  }

  check = () => true;

  async run(model: Model, real: Real): Promise<void> {
    model.time += this.#ms;
    real.time += this.#ms;
    await check(model, real);
  }

  toString = () => `wait ${this.#ms / hour} h`;
}

/** An event comes, signed by any keys, after the cool-down of the receiver's ring. */
class Deliver implements Command {
  readonly #name: number;

  constructor(name: number) {
    this.#name = name;
  }

  check = () => true;

  async run(model: Model, real: Real): Promise<void> {
    await real.ring.reload().catch(() => {});
    const replaced = model.replaced.find(({ name }) => name === this.#name);
    const stillVerifies = replaced !== undefined && replaced.at + overlapMs + hour >= model.time;
    const isValid = model.current === this.#name || model.pending === this.#name || stillVerifies;
    expect(await real.accepts(this.#name)).toBe(isValid);
    await check(model, real);
  }

  toString = () => `deliver ${this.#name}`;
}

const names = fc.integer({ min: 1, max: 6 });
const crash = fc.option(fc.constantFrom<Crash>('before', 'after'), { nil: undefined });
const fault = fc.option(
  fc.record({ at: fc.constantFrom(0, 1), crash: fc.constantFrom<Crash>('before', 'after') }),
  { nil: undefined },
);
const commands = [
  fc.tuple(names, crash).map(([name, end]) => receive(name, end)),
  crash.map((end) => promote(end)),
  fc
    .record({
      outcome: fc.constantFrom<Outcome>('accepted', 'refused', 'unknown'),
      again: fc.boolean(),
      fault,
    })
    .map((options) => new Request(options)),
  fc.constantFrom(1, 5, 23, 26).map((hours) => new Wait(hours * hour)),
  names.map((name) => new Deliver(name)),
];

it('any steps in any order, with a crash at any write, leave what the model says', async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 40, size: 'max' }), async (steps) => {
      await fc.asyncModelRun(setUp, steps);
    }),
    { numRuns: times(100, 400) },
  );
}, 60_000);

function setUp(): { model: Model; real: Real } {
  const start = 1_700_000_000_000;
  // Its matches are not stored, so that the model need not count them.
  const load: KeyRingOptions['load'] = async () => ({
    ...(await rotationOf(real).credentials()),
    matched: undefined,
  });
  const ring = createKeyRing({ load, onError: () => {} });
  const webhooks = createWebhooks({ credentials: ring }).onUnrecognized(() => {});
  let deliveries = 0;
  const real: Real = {
    storage: storedKeys({ store: memoryStore() }),
    asked: 0,
    time: start,
    ring,
    accepts: async (name) => {
      deliveries += 1;
      const { kind } = await webhooks.receive(eventSignedBy(name, `A-${deliveries}`));
      return kind === 'handled';
    },
  };
  const model: Model = { time: start, request: 'none', replaced: [], received: new Set(), asked: 0 };
  return { model, real };
}

/** When an update of the storage ends the process, as its caller sees it: nothing is written, or everything. */
type Crash = 'before' | 'after';

class Crashed extends Error {}

/** A storage that crashes in its update number `at`, counted from 0. */
function crashing(storage: KeyStorage, at: number, crash: Crash): KeyStorage {
  let updates = 0;
  return {
    read: () => storage.read(),
    async update(change) {
      const isNow = updates++ === at;
      if (isNow && crash === 'before') throw new Crashed();
      await storage.update(change);
      if (isNow) throw new Crashed();
    },
  };
}
