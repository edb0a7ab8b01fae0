import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { OtpReport } from '../../src/otp/otp-report.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { nextTurn } from '../support/next-turn.ts';
import { rejected } from '../support/refusal.ts';
import { Clock, notCode, numberRefused, otpOn, phone, purpose, unknown } from './support.ts';

afterEach(() => vi.restoreAllMocks());

const masked = '+234********78';

describe('onOtp', () => {
  it('reports each call once, with its outcome', async () => {
    const reports: OtpReport[] = [];
    const clock = new Clock();
    const { otp, messenger } = otpOn(memoryStore({ now: clock.now }), clock, {
      onOtp: (one) => reports.push(one),
    });
    const { id } = await otp.issue({ to_phone: phone, purpose });
    await rejected(otp.issue({ to_phone: phone, purpose }));
    await rejected(otp.issue({ to_phone: '+14155552671', purpose }));
    await rejected(otp.issue({ to_phone: 'x', purpose }));
    await rejected(otp.issue({ to_phone: phone, purpose, other: 1 } as Parameters<typeof otp.issue>[0]));
    clock.at += 30_000;
    messenger.failures.push(unknown());
    await otp.resend(id);
    clock.at += 60_000;
    messenger.failures.push(numberRefused());
    await rejected(otp.resend(id));
    await rejected(otp.resend('unknown'));
    await otp.check('unknown', '123456', { purpose });
    await otp.check(id, notCode(...(messenger.codes as [string, string])), { purpose });
    await otp.check(id, messenger.lastCode, { purpose });
    await otp.cancel(id);
    const about = { purpose, to_phone: masked };
    expect(reports.map(({ durationMs: _, messengerMs: __, ...rest }) => rest)).toEqual([
      { action: 'issue', outcome: 'sent', ...about, messengerOutcome: 'sent' },
      { action: 'issue', outcome: 'cool_down', ...about },
      { action: 'issue', outcome: 'not_allowed', purpose, to_phone: '+141******71' },
      { action: 'issue', outcome: 'invalid_input' },
      { action: 'issue', outcome: 'failed' },
      {
        ...{ action: 'resend', outcome: 'unknown', ...about },
        ...{ messengerOutcome: 'unknown', messengerCode: 'network_error' },
      },
      {
        ...{ action: 'resend', outcome: 'refused', ...about },
        ...{ messengerOutcome: 'refused', messengerCode: 'http_error', messengerStatus: 422 },
      },
      { action: 'resend', outcome: 'not_allowed' },
      { action: 'check', outcome: 'not_valid', purpose },
      { action: 'check', outcome: 'wrong', ...about },
      { action: 'check', outcome: 'accepted', ...about },
      { action: 'cancel', outcome: 'cancelled' },
    ]);
    for (const { durationMs, messengerMs = 0 } of reports) {
      expect(durationMs).toBeGreaterThanOrEqual(messengerMs);
      expect(messengerMs).toBeGreaterThanOrEqual(0);
    }
    expect(reports.filter(({ messengerMs }) => messengerMs !== undefined)).toHaveLength(3);
  });

  it('names the limit', async () => {
    const reports: OtpReport[] = [];
    const clock = new Clock();
    const { otp } = otpOn(memoryStore({ now: clock.now }), clock, {
      coolDownMs: [],
      limits: { phone: { max: 1, windowMs: 1_000 } },
      onOtp: (one) => reports.push(one),
    });
    await otp.issue({ to_phone: phone, purpose });
    await rejected(otp.issue({ to_phone: phone, purpose }));
    expect(reports).toMatchObject([{ outcome: 'sent' }, { outcome: 'limit_reached', limit: 'phone' }]);
  });

  it('that fails changes nothing, and is one warning however often it fails', async () => {
    const emit = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => void emit.mockRestore());
    const failing: ((report: OtpReport) => unknown)[] = [
      () => {
        throw new Error('hook');
      },
      () => Promise.reject(new Error('hook')),
    ];
    for (const onOtp of failing) {
      const clock = new Clock();
      const { otp, messenger } = otpOn(memoryStore({ now: clock.now }), clock, { onOtp });
      const { id } = await otp.issue({ to_phone: phone, purpose });
      expect(await otp.check(id, messenger.lastCode, { purpose })).toMatchObject({ ok: true });
    }
    await nextTurn();
    expect(emit.mock.calls.map(([message]) => message)).toEqual(['onOtp failed; nothing else is affected.']);
  });
});
