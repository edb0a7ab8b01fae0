import { createHash } from 'node:crypto';
import { createRequire, syncBuiltinESMExports } from 'node:module';

/** What stands in place of the real world while a simulation runs. */
export interface SimulatedGlobals {
  readonly wall: () => number;
  readonly monotonic: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly timer: (ms: number, run: () => void) => { cancel(): void };
  readonly immediate: (run: () => void, owner: 'this process' | 'all processes') => { cancel(): void };
  readonly unhandled: (error: unknown) => void;
}

const require = createRequire(import.meta.url);
// Sound: these are the modules themselves, whose members can be replaced.
const timers = require('node:timers') as Record<string, unknown>;
const timerPromises = require('node:timers/promises') as Record<string, unknown>;
const cryptography = require('node:crypto') as Record<string, unknown>;
const net = require('node:net') as { Socket: { prototype: Record<string, unknown> } };
const performanceHooks = require('node:perf_hooks') as { performance: Performance };

const setRealImmediate = setImmediate;
/** All microtasks and next ticks have run. */
export function realImmediate(): Promise<void> {
  return new Promise((resolve) => setRealImmediate(resolve));
}

let simulated: SimulatedGlobals | undefined;

export function simulateGlobals(globals: SimulatedGlobals): void {
  simulated = globals;
}

/** In `src/internal/deadline.ts`: processes share its list here, as they share every module, and none waits for another. */
const endOfTurn = 'release';

function world(what: string): SimulatedGlobals {
  if (simulated === undefined) throw new Error(`The simulated world has no ${what} of its own yet.`);
  return simulated;
}

function refuse(what: string): () => never {
  return () => {
    throw new Error(`The simulated world has no ${what}.`);
  };
}

/**
 * Replaces clocks, timers, randomness and network of this thread, once and for good: what product code takes from them
 * by default is simulated, and what cannot be simulated is refused. To be imported before any product code, in a process
 * or worker of its own.
 */
function install(): void {
  const RealDate = Date;
  const now = () => (simulated === undefined ? 0 : simulated.wall());
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, self) => Reflect.construct(target, args.length === 0 ? [now()] : args, self),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  });
  replace(performanceHooks.performance, 'now', () => (simulated === undefined ? 0 : simulated.monotonic()));
  replace(process, 'hrtime', refuse('process.hrtime'));

  for (const target of [globalThis, timers] as Record<string, unknown>[]) {
    target.setTimeout = (run: (...args: unknown[]) => void, ms = 1, ...args: unknown[]) =>
      simulatedTimer(run, args, { ms: ms >= 1 ? ms : 1, repeats: false });
    target.setInterval = (run: (...args: unknown[]) => void, ms = 1, ...args: unknown[]) =>
      simulatedTimer(run, args, { ms: ms >= 1 ? ms : 1, repeats: true });
    target.setImmediate = (run: (...args: unknown[]) => void, ...args: unknown[]) =>
      world('timers').immediate(
        () => run(...args),
        run.name === endOfTurn ? 'all processes' : 'this process',
      );
    target.clearTimeout =
      target.clearInterval =
      target.clearImmediate =
        (timer?: unknown) => {
          if (typeof timer === 'object' && timer !== null && 'cancel' in timer)
            (timer as { cancel(): void }).cancel();
        };
  }
  timerPromises.setImmediate = () =>
    new Promise<void>((resolve) => world('timers').immediate(resolve, 'this process'));
  timerPromises.setTimeout = (ms: number) =>
    new Promise<void>((resolve) => world('timers').timer(ms, () => resolve()));
  timerPromises.setInterval = refuse('setInterval of node:timers/promises');
  replace(AbortSignal, 'timeout', (ms: number) => {
    const controller = new AbortController();
    world('timers').timer(ms, () => controller.abort(new DOMException('It took too long.', 'TimeoutError')));
    return controller.signal;
  });

  const fill = (bytes: Uint8Array) => {
    new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength).set(
      world('randomness').random(bytes.byteLength),
    );
    return bytes;
  };
  const uuid = () => {
    const hex = Buffer.from(world('randomness').random(16)).toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  };
  cryptography.randomUUID = uuid;
  cryptography.randomBytes = (size: number) => Buffer.from(world('randomness').random(size));
  cryptography.randomFillSync = fill;
  for (const name of ['randomInt', 'randomFill']) cryptography[name] = refuse(`${name} of node:crypto`);
  replace(globalThis.crypto, 'randomUUID', uuid);
  replace(globalThis.crypto, 'getRandomValues', fill);
  // A digest of a thread pool would come when it likes.
  replace(globalThis.crypto.subtle, 'digest', async (name: string, bytes: Uint8Array) => {
    const digest = createHash(name.replace('-', '')).update(bytes).digest();
    return digest.buffer.slice(digest.byteOffset, digest.byteOffset + digest.byteLength);
  });
  // Node's own modules draw while they are loaded.
  Math.random = () =>
    simulated === undefined ? 0 : Buffer.from(simulated.random(4)).readUInt32LE() / 2 ** 32;

  replace(globalThis, 'fetch', refuse('network'));
  net.Socket.prototype.connect = refuse('network');
  process.emitWarning = () => {};
  process.on('unhandledRejection', (error) => {
    if (simulated === undefined) throw error;
    simulated.unhandled(error);
  });
  syncBuiltinESMExports();
}

function replace(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, writable: true, configurable: true });
}

function simulatedTimer(
  run: (...args: unknown[]) => void,
  args: readonly unknown[],
  { ms, repeats }: { ms: number; repeats: boolean },
) {
  const fire = () => {
    if (repeats) timer.refresh();
    run(...args);
  };
  let scheduled = world('timers').timer(ms, fire);
  const timer = {
    cancel: () => scheduled.cancel(),
    refresh() {
      scheduled.cancel();
      scheduled = world('timers').timer(ms, fire);
      return timer;
    },
    ref: () => timer,
    unref: () => timer,
    hasRef: () => true,
    close: () => scheduled.cancel(),
  };
  return timer;
}

install();
