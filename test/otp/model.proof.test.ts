import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isOtpError } from '../../src/errors/errors.ts';
import type { CheckedOtp } from '../../src/otp/check-code.ts';
import { createOtp, type Otp } from '../../src/otp/create-otp.ts';
import type { OtpOptions } from '../../src/otp/otp-options.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { times } from '../support/repeat.ts';
import { Clock, FakeMessenger, notCode, notSent, numberRefused, secret, unknown } from './support.ts';

/** Small numbers, so that a few commands reach every limit. */
const step = 60_000;
const windowMs = 60 * step;
const settings = {
  codeLength: 6,
  lifetimeMs: 10 * step,
  maxAttempts: 3,
  maxSends: 2,
  cooldownMs: 2 * step,
  limits: {
    messagesPerPhone: { max: 4, windowMs },
    unconfirmedPerIp: { floor: 4, ratio: 0.5, windowMs },
    failuresPerPhone: 4,
  },
} satisfies Partial<OtpOptions>;
const phones = ['+2348012345670', '+2348012345671'];
const purposes = ['sign-in', 'withdraw'];
const ip = '198.51.100.7';
const day = 86_400_000;

/** The rules, as plain as they can be said: every event with its time, and nothing is ever dropped. */
interface Model {
  readonly flows: ModelFlow[];
  readonly messages: { readonly phone: string; readonly withIp: boolean; readonly at: number }[];
  /** Messages of the address whose code was confirmed, within its window. */
  confirmed: number;
  readonly wrongOfPhone: Map<string, number[]>;
  readonly lastMessageOfPhone: Map<string, number>;
  now: number;
}

interface ModelFlow {
  readonly id: string;
  readonly phone: string;
  readonly purpose: string;
  readonly withIp: boolean;
  readonly codes: { readonly code: string; readonly at: number }[];
  sends: number;
  attempts: number;
  isOver: boolean;
}

interface Real {
  readonly otp: Otp;
  readonly clock: Clock;
  readonly messenger: FakeMessenger;
}

type Command = fc.AsyncCommand<Model, Real>;
type Failure = 'none' | 'not-sent' | 'unknown' | 'refused';
const failures = { none: () => undefined, 'not-sent': notSent, unknown, refused: numberRefused } as const;

const isValid = (model: Model, flow: ModelFlow) =>
  !flow.isOver && flow.codes.some(({ at }) => model.now < at + settings.lifetimeMs);

/** The events in the window that is open now: a window begins with the first event after the last one's end. */
function inWindow(times: readonly number[], ms: number, now: number): number {
  let window: number[] = [];
  for (const at of times) window = at < (window[0] ?? -ms) + ms ? [...window, at] : [at];
  return now < (window[0] ?? -ms) + ms ? window.length : 0;
}

function messagesOfIp(model: Model): number {
  const times = model.messages.filter(({ withIp }) => withIp).map(({ at }) => at);
  return inWindow(times, windowMs, model.now);
}

/** Whether a message may leave now. */
function mayLeave(model: Model, { phone, withIp }: ModelFlow): boolean {
  const { limits, cooldownMs } = settings;
  const ofPhone = model.messages.filter((message) => message.phone === phone).map(({ at }) => at);
  const ofIp = messagesOfIp(model);
  const confirmed = ofIp === 0 ? 0 : model.confirmed;
  return (
    inWindow(ofPhone, windowMs, model.now) < limits.messagesPerPhone.max &&
    (!withIp || ofIp - confirmed < 4 || confirmed >= 0.5 * ofIp) &&
    inWindow(model.wrongOfPhone.get(phone) ?? [], day, model.now) < limits.failuresPerPhone &&
    model.now >= (model.lastMessageOfPhone.get(phone) ?? 0) + cooldownMs
  );
}

/** What the runs came across: a model that never gets to a limit would prove nothing of it. */
const reached = new Set<string>();

async function outcomeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'done';
  } catch (error) {
    if (!isOtpError(error)) throw error;
    reached.add(error.limit ?? error.code);
    return error.code;
  }
}

/** What sending does to the model, and what the call should have come to. */
function sendInModel(
  model: Model,
  real: Real,
  { flow, failure }: { flow: ModelFlow; failure: Failure },
): string {
  if (!mayLeave(model, flow)) return 'denied';
  if (failure === 'not-sent') return 'not_sent';
  if (flow.withIp && messagesOfIp(model) === 0) model.confirmed = 0;
  model.messages.push({ phone: flow.phone, withIp: flow.withIp, at: model.now });
  model.lastMessageOfPhone.set(flow.phone, model.now);
  flow.sends++;
  if (failure === 'refused') return 'refused';
  flow.codes.push({ code: real.messenger.lastCode, at: model.now });
  return 'done';
}

function compareOutcomes(found: string, expected: string): void {
  if (expected === 'denied') expect(['limit_reached', 'cool_down']).toContain(found);
  else expect(found).toBe(expected);
}

function issueCommand(to_phone: string, purpose: string, failure: Failure, withIp: boolean): Command {
  return {
    check: () => true,
    async run(model, real) {
      real.messenger.failures.splice(0, 1, failures[failure]());
      let id = '';
      const call = real.otp.issue({ to_phone, purpose, ...(withIp && { ip }) }).then((issued) => {
        id = issued.id;
      });
      const found = await outcomeOf(call);
      const flow = { id, phone: to_phone, purpose, withIp, codes: [], sends: 0, attempts: 0, isOver: false };
      compareOutcomes(found, sendInModel(model, real, { flow, failure }));
      if (found === 'done') model.flows.push(flow);
    },
    toString: () => `issue(${to_phone}, ${purpose}, ${failure}, ${withIp ? 'ip' : 'no ip'})`,
  };
}

function resendCommand(place: number, failure: Failure): Command {
  return {
    check: (model) => model.flows.length > 0,
    async run(model, real) {
      const flow = pick(model, place);
      real.messenger.failures.splice(0, 1, failures[failure]());
      const found = await outcomeOf(real.otp.resend(flow.id));
      if (!isValid(model, flow)) expect(found).toBe('not_allowed');
      else if (flow.sends >= settings.maxSends) expect(found).toBe('limit_reached');
      else compareOutcomes(found, sendInModel(model, real, { flow, failure }));
    },
    toString: () => `resend(${place}, ${failure})`,
  };
}

function checkCommand(place: number, guess: number | 'wrong', purpose: string): Command {
  return {
    check: (model) => model.flows.length > 0,
    async run(model, real) {
      const flow = pick(model, place);
      const codes = flow.codes.map(({ code }) => code);
      const sent = guess === 'wrong' ? undefined : flow.codes[guess % flow.codes.length];
      const code = sent?.code ?? notCode(codes[0] ?? '000000', ...codes);
      const found = await real.otp.check(flow.id, code, { purpose });
      reached.add(found.ok ? 'accepted' : found.reason);
      expect(found).toEqual(checkInModel(model, { flow, code, purpose }));
    },
    toString: () => `check(${place}, ${guess}, ${purpose})`,
  };
}

function checkInModel(
  model: Model,
  { flow, code, purpose }: { flow: ModelFlow; code: string; purpose: string },
): CheckedOtp {
  if (!isValid(model, flow) || flow.purpose !== purpose)
    return { ok: false, reason: 'not_valid', attemptsLeft: 0 };
  flow.attempts++;
  if (flow.codes.some((one) => one.code === code && model.now < one.at + settings.lifetimeMs)) {
    flow.isOver = true;
    model.lastMessageOfPhone.set(flow.phone, 0);
    model.wrongOfPhone.set(flow.phone, []);
    if (flow.withIp) model.confirmed = Math.min(messagesOfIp(model), model.confirmed + flow.codes.length);
    return { ok: true, to_phone: flow.phone };
  }
  model.wrongOfPhone.set(flow.phone, [...(model.wrongOfPhone.get(flow.phone) ?? []), model.now]);
  flow.isOver = flow.attempts >= settings.maxAttempts;
  const attemptsLeft = settings.maxAttempts - flow.attempts;
  return { ok: false, reason: attemptsLeft > 0 ? 'wrong' : 'not_valid', attemptsLeft };
}

function cancelCommand(place: number): Command {
  return {
    check: (model) => model.flows.length > 0,
    async run(model, real) {
      const flow = pick(model, place);
      await real.otp.cancel(flow.id);
      flow.isOver = true;
    },
    toString: () => `cancel(${place})`,
  };
}

function waitCommand(steps: number): Command {
  return {
    check: () => true,
    async run(model, real) {
      real.clock.at += steps * step;
      model.now = real.clock.at;
    },
    toString: () => `wait(${steps})`,
  };
}

function pick(model: Model, place: number): ModelFlow {
  // Mostly the newest: the others are over.
  const flow = model.flows.at(-1 - (place % model.flows.length));
  if (flow === undefined) throw new Error('There is no flow.');
  return flow;
}

const phone = fc.constantFrom(...phones);
const purpose = fc.constantFrom('sign-in', 'sign-in', 'sign-in', ...purposes);
const failure = fc.constantFrom<Failure[]>('none', 'none', 'none', 'none', 'not-sent', 'unknown', 'refused');
const place = fc.nat({ max: 2 });
const commands = [
  fc.tuple(phone, purpose, failure, fc.boolean()).map((args) => issueCommand(...args)),
  fc.tuple(place, failure).map((args) => resendCommand(...args)),
  fc
    .tuple(place, fc.oneof(fc.nat({ max: 2 }), fc.constant('wrong' as const)), purpose)
    .map((args) => checkCommand(...args)),
  place.map((args) => checkCommand(args, 'wrong', 'sign-in')),
  place.map(cancelCommand),
  fc.constantFrom(1, 1, 2, 2, 3, 5, 30, 60, 1_440).map(waitCommand),
];

describe('any calls in any order', () => {
  it('do what the rules say', async () => {
    const property = fc.asyncProperty(fc.commands(commands, { size: '+1', maxCommands: 120 }), (calls) =>
      fc.asyncModelRun(() => {
        const clock = new Clock();
        const messenger = new FakeMessenger();
        const otp = createOtp({
          ...settings,
          messenger,
          store: memoryStore({ now: clock.now }),
          secrets: [secret],
          allowedPrefixes: ['+234'],
          now: clock.now,
        });
        const model: Model = {
          flows: [],
          messages: [],
          confirmed: 0,
          wrongOfPhone: new Map(),
          lastMessageOfPhone: new Map(),
          now: clock.at,
        };
        return { model, real: { otp, clock, messenger } };
      }, calls),
    );
    const all = [
      ...['accepted', 'cool_down', 'failuresPerPhone', 'maxSends', 'messagesPerPhone'],
      ...['not_allowed', 'not_sent', 'not_valid', 'refused', 'unconfirmedPerIp', 'wrong'],
    ];
    // Some rules are reached in few sequences, and now and then in none of several hundred.
    for (let round = 0; round < times(30, 6) && (round === 0 || reached.size < all.length); round++) {
      await fc.assert(property, { numRuns: times(100, 500) });
    }
    expect([...reached].sort()).toEqual(all);
  }, 60_000);
});
