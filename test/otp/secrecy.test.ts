import { inspect } from 'node:util';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { StoreError } from '../../src/errors/errors.ts';
import type { OtpReport } from '../../src/otp/otp-report.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import type { RecordStore } from '../../src/store/record-store.ts';
import { nextTurn } from '../support/next-turn.ts';
import { Clock, notCode, notSent, otpOn, phone, purpose, requestError, secret } from './support.ts';

const warnings: unknown[] = [];
const keepWarning = (warning: unknown) => warnings.push(warning);
beforeEach(() => {
  process.on('warning', keepWarning);
});
afterEach(() => {
  process.off('warning', keepWarning);
  vi.restoreAllMocks();
});

it('no error, report, warning or printed object holds a code, a whole phone number, an id or a secret', async () => {
  const clock = new Clock();
  const memory = memoryStore({ now: clock.now });
  let isDown = false;
  const store: RecordStore = {
    ...memory,
    async transact(keys, change) {
      if (isDown) throw new StoreError('store_failed', 'The store is down.');
      return await memory.transact(keys, change);
    },
  };
  const reports: OtpReport[] = [];
  const codes: string[] = [];
  const { otp, messenger } = otpOn(store, clock, {
    message: ({ code }) => {
      codes.push(code);
      return `Your code is ${code}`;
    },
    onOtp: (report) => {
      reports.push(report);
      throw new Error(`The hook failed: ${JSON.stringify(report)}`);
    },
  });
  const errors: unknown[] = [];
  const ids: string[] = [];
  const attempt = async (call: () => Promise<unknown>) => {
    try {
      const result = await call();
      if (typeof result === 'object' && result !== null && 'id' in result) ids.push(String(result.id));
    } catch (error) {
      errors.push(error);
    }
  };
  /** An error of a messenger, or of a service, that repeats what it was given. */
  const failing = (makeError: (echo: string) => Error) => {
    messenger.before = async () => {
      messenger.before = undefined;
      messenger.failures.push(makeError(`${codes.at(-1)} for ${phone} or ${phone.slice(1)}`));
    };
  };

  const issue = () => otp.issue({ to_phone: phone, purpose, ip: '198.51.100.7', subject: 'subject-xyz' });
  for (const outcome of ['not-sent', 'refused'] as const) {
    for (const status of [undefined, 401, 422]) {
      failing((echo) =>
        Object.assign(requestError(outcome, { ...(status !== undefined && { status }), body: { echo } }), {
          message: `The service said: ${echo}`,
        }),
      );
      await attempt(issue);
      clock.at += 3_600_000;
    }
  }
  failing((echo) => new TypeError(`failed with ${echo}`));
  await attempt(issue);
  messenger.failures.push(notSent());
  await attempt(() => otp.resend(ids[0] ?? ''));
  await attempt(() => otp.resend(ids[0] ?? ''));
  await attempt(() => otp.issue({ to_phone: `${phone}99999999`, purpose }));
  await attempt(() => otp.issue({ to_phone: '+14155552671', purpose }));
  const checked = { purpose, subject: 'subject-xyz' };
  await attempt(() => otp.check(ids[0] ?? '', notCode(codes.at(-1) ?? ''), checked));
  await attempt(() => otp.check(ids[0] ?? '', codes.at(-1) ?? '', { purpose, subject: `${phone}` }));
  isDown = true;
  for (const call of [
    issue,
    () => otp.resend(ids[0] ?? ''),
    () => otp.check(ids[0] ?? '', '493021', checked),
  ]) {
    await attempt(call);
  }
  const broken = otpOn(memory, new Clock(), {
    message: ({ code }) => {
      codes.push(code);
      throw new Error(`cannot print ${code}`);
    },
  });
  await attempt(() => broken.otp.issue({ to_phone: phone, purpose }));
  await nextTurn();

  expect(errors.length).toBeGreaterThan(12);
  expect(reports.length).toBeGreaterThan(12);
  expect(ids).toHaveLength(1);
  const shown = [...errors, ...reports, ...warnings, otp, broken.otp].flatMap((any) => [
    inspect(any, { showHidden: true, depth: 10, getters: true }),
    JSON.stringify(any),
    String(any),
  ]);
  for (const text of shown) {
    for (const hidden of [
      phone,
      phone.slice(1),
      '8012345678',
      '4155552671',
      ...codes,
      ...ids,
      secret,
      '198.51.100',
    ]) {
      expect(text).not.toContain(hidden);
    }
  }
});
