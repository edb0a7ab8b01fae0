import { createOtp } from 'partner-exchange-sdk/otp';
import { memoryStore } from 'partner-exchange-sdk/store';
import { type Checks, equal } from './checks.ts';

const notValid = { ok: false, reason: 'not_valid', attemptsLeft: 0 };

export async function checkOneTimeCodes(checks: Checks): Promise<void> {
  await checks.run('a one-time code is accepted once, and wrong ones are counted', async () => {
    const messages: { readonly to_phone: string; readonly message: string }[] = [];
    const otp = createOtp({
      messenger: { sendMessage: async (message) => void messages.push(message) },
      store: memoryStore(),
      secrets: ['secret-of-the-runtime-suite-0123456789'],
      allowedPrefixes: ['+234'],
    });
    const to_phone = '+234 (0)801 234-5678';
    const { id } = await otp.issue({ to_phone, purpose: 'sign-in', ip: '198.51.100.7' });
    equal(messages.length, 1);
    equal(messages[0]?.to_phone, '+2348012345678');
    const code = /\d{6}/.exec(messages[0]?.message ?? '')?.[0] ?? '';
    const wrong = code === '000000' ? '111111' : '000000';
    const claim = { purpose: 'sign-in' };
    equal(await otp.check(id, wrong, claim), { ok: false, reason: 'wrong', attemptsLeft: 4 });
    equal(await otp.check(id, code, { purpose: 'withdraw' }), notValid);
    equal(await otp.check(id, `${code.slice(0, 3)} ${code.slice(3)}`, claim), {
      ok: true,
      to_phone: '+2348012345678',
    });
    equal(await otp.check(id, code, claim), notValid);
  });
}
