import { RequestError, type RequestOutcome } from '../../src/errors/errors.ts';
import { createOtp, type Otp } from '../../src/otp/create-otp.ts';
import type { OtpOptions } from '../../src/otp/otp-options.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import type { RecordStore } from '../../src/store/record-store.ts';

export const phone = '+2348012345678';
export const secret = 'secret-of-the-tests-0123456789abcdef';
export const purpose = 'sign-in';

/** A clock that only the test moves. */
export class Clock {
  at = 1_700_000_000_000;
  readonly now = (): number => this.at;
}

/** Takes messages as the service would, and fails as it is told. */
export class FakeMessenger {
  readonly messages: { readonly to_phone: string; readonly message: string }[] = [];
  /** Thrown by the next messages, in this order; `undefined` sends. */
  readonly failures: (Error | undefined)[] = [];
  /** Called before a message is taken. */
  before: (() => Promise<void>) | undefined;

  async sendMessage(message: { to_phone: string; message: string }): Promise<unknown> {
    await this.before?.();
    const failure = this.failures.shift();
    // After an unknown outcome, the message may have left all the same.
    if (failure === undefined || (failure instanceof RequestError && failure.outcome === 'unknown')) {
      this.messages.push(message);
    }
    if (failure !== undefined) throw failure;
    return {};
  }

  /** The codes sent, the first first. */
  get codes(): string[] {
    return this.messages.map(({ message }) => /\d{6,}/.exec(message)?.[0] ?? '');
  }

  get lastCode(): string {
    return this.codes.at(-1) ?? '';
  }
}

export function otpOn(
  store: RecordStore,
  clock: Clock,
  options: Partial<OtpOptions> = {},
): { readonly otp: Otp; readonly messenger: FakeMessenger } {
  const messenger = new FakeMessenger();
  const otp = createOtp({
    messenger,
    store,
    secrets: [secret],
    allowedPrefixes: ['+234'],
    now: clock.now,
    ...options,
  });
  return { otp, messenger };
}

/** Codes over a store in memory, and a clock that only the test moves. */
export function memoryOtp(options: Partial<OtpOptions> = {}) {
  const clock = new Clock();
  const store = memoryStore({ now: clock.now });
  return { clock, store, ...otpOn(store, clock, options) };
}

/** The result of a check that no code can pass any more. */
export const notValid = { ok: false, reason: 'not_valid', attemptsLeft: 0 } as const;

/** A code of the same length that is not this one. */
export function notCode(code: string, ...others: string[]): string {
  for (let guess = 0; ; guess++) {
    const wrong = String(guess).padStart(code.length, '0');
    if (wrong !== code && !others.includes(wrong)) return wrong;
  }
}

export function requestError(
  outcome: RequestOutcome,
  { status, retryAfterMs, body }: { status?: number; retryAfterMs?: number; body?: unknown } = {},
): RequestError {
  const code = status === undefined ? 'network_error' : 'http_error';
  return new RequestError(code, `sendMessage: ${outcome}`, {
    outcome,
    operation: 'sendMessage',
    method: 'POST',
    url: 'https://messenger.example/send-messages/send',
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(body !== undefined && { body }),
  });
}

export const notSent = () => requestError('not-sent');
export const unknown = () => requestError('unknown');
export const numberRefused = () => requestError('refused', { status: 422 });
export const deviceRefused = () => requestError('refused', { status: 401 });
