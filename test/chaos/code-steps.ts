import { isOtpError } from '../../src/errors/errors.ts';
import type { IssuedOtp } from '../../src/otp/send-code.ts';
import { pick, pickOf } from './plan.ts';
import { during, passTime, pickProcess, type World } from './world.ts';

/** Small, so that a scenario reaches every limit. */
export const otpSettings = {
  lifetimeMs: 120_000,
  maxAttempts: 3,
  maxSends: 3,
  coolDownMs: [10_000, 20_000],
  limits: { phone: { max: 2, windowMs: 3_600_000 } },
};

/** A code that somebody asked for, as it looks to those who see phone and clock. */
export interface CodeFlow {
  readonly id: string;
  readonly phone: string;
  readonly purpose: string;
  /** What came to the phone, and until when it is valid. */
  readonly codes: { readonly code: string; readonly expiresAt: number }[];
  /** Of the last code, also if it never came. */
  validUntil: number;
  wrong: number;
  accepted: number;
  isCancelled: boolean;
}

const phones = ['+2348012345670', '+2348012345670', '+2348012345671'] as const;
const purposes = ['sign-in', 'withdraw'] as const;

export async function issueCode(world: World): Promise<void> {
  const phone = pick(world.random, phones);
  const purpose = pick(world.random, purposes);
  await send(world, phone, async () => {
    const issued = await pickProcess(world).otp.issue({ to_phone: phone, purpose });
    const flow = {
      id: issued.id,
      phone,
      purpose,
      codes: [],
      validUntil: 0,
      wrong: 0,
      accepted: 0,
      isCancelled: false,
    };
    world.flows.push(flow);
    return { issued, flow };
  });
}

export async function resendCode(world: World): Promise<void> {
  const flow = world.flows.at(-1);
  if (flow === undefined) return;
  await send(world, flow.phone, async () => {
    const isOver = stateOf(world, flow) !== 'valid';
    const issued = await pickProcess(world).otp.resend(flow.id);
    if (isOver) world.books.breach(`A code of ${flow.phone} was sent again although it was over.`);
    return { issued, flow };
  });
}

/** Sends a code, and reads the phone. */
async function send(
  world: World,
  phone: string,
  work: () => Promise<{ issued: IssuedOtp; flow: CodeFlow }>,
): Promise<void> {
  const { books, sandbox, plan } = world;
  const before = sandbox.messages.length;
  const received = () =>
    sandbox.messages
      .slice(before)
      .map(({ to_phone, message }) => ({ to_phone, code: /\d{6}/.exec(message)?.[0] ?? '' }));
  try {
    const { issued, flow } = await during(world, work());
    flow.validUntil = issued.expiresAt;
    const codes = received();
    for (const { code } of codes) flow.codes.push({ code, expiresAt: issued.expiresAt });
    if (codes.some(({ to_phone }) => to_phone !== phone)) books.breach(`A code for ${phone} went elsewhere.`);
    if (plan.isHonest && codes.length > 1) books.breach(`Two messages left for one code to ${phone}.`);
  } catch (error) {
    if (!isOtpError(error)) throw error;
    if (plan.isHonest && received().length > 0) books.breach(`${error.code}, and a code left for ${phone}.`);
  }
}

/** Somebody types something in. */
export async function checkCode(world: World): Promise<void> {
  const { random, flows } = world;
  const flow = random.chance(0.7) ? flows.at(-1) : pickOf(random, flows);
  if (flow === undefined) return;
  const code = pickOf(random, flow.codes)?.code;
  switch (pick(random, ['right', 'right', 'at once', 'wrong', 'guesses', 'purpose', 'cancel', 'too late'])) {
    case 'right':
      if (code !== undefined) await check(world, flow, { code });
      break;
    case 'at once':
      if (code !== undefined) await check(world, flow, { code, times: 4 });
      break;
    case 'wrong':
      await check(world, flow, { code: wrongCode(flow) });
      break;
    case 'guesses':
      await check(world, flow, { code: wrongCode(flow), times: 4 });
      if (code !== undefined) await check(world, flow, { code });
      break;
    case 'purpose':
      if (code !== undefined) await check(world, flow, { code, purpose: 'another' });
      break;
    case 'cancel':
      await pickProcess(world).otp.cancel(flow.id);
      flow.isCancelled = true;
      break;
    case 'too late':
      await passTime(world, otpSettings.lifetimeMs);
      if (code !== undefined) await check(world, flow, { code });
      break;
  }
}

/** Types a code in: once, or several times at once. */
async function check(
  world: World,
  flow: CodeFlow,
  { code, purpose = flow.purpose, times = 1 }: { code: string; purpose?: string; times?: number },
): Promise<void> {
  const { books, sandbox } = world;
  const { codes } = flow;
  const isMeant = purpose === flow.purpose;
  const wasValid = stateOf(world, flow) === 'valid';
  const now = sandbox.clock.now();
  const isRight = isMeant && codes.some((one) => one.code === code && now < one.expiresAt);
  const checks = Array.from({ length: times }, () =>
    pickProcess(world).otp.check(flow.id, code, { purpose }),
  );
  const accepted = (await Promise.all(checks)).filter(({ ok }) => ok).length;
  const about = `The code of ${flow.phone} for ${flow.purpose}`;
  if (accepted > 0) {
    if (!isRight) books.breach(`${about} was accepted, and was wrong, for something else, or too old.`);
    if (flow.wrong >= otpSettings.maxAttempts) books.breach(`${about} was accepted after too many attempts.`);
    if (flow.isCancelled) books.breach(`${about} was accepted after it was cancelled.`);
    if (flow.accepted + accepted > 1) books.breach(`${about} was accepted twice.`);
  } else if (wasValid && isRight) books.breach(`${about} is right, and was not accepted.`);
  flow.accepted += accepted;
  // Also after the last code has expired: then there is nothing to count for.
  if (isMeant && !isRight) flow.wrong += times;
}

function stateOf({ sandbox }: World, flow: CodeFlow): 'valid' | 'over' {
  const { validUntil, wrong, accepted, isCancelled } = flow;
  const isOver = isCancelled || accepted > 0 || wrong >= otpSettings.maxAttempts;
  return !isOver && sandbox.clock.now() < validUntil ? 'valid' : 'over';
}

function wrongCode({ codes }: CodeFlow): string {
  const sent = codes.map(({ code }) => code);
  return ['000000', '111111', '222222', '333333'].find((guess) => !sent.includes(guess)) ?? '444444';
}
