import { isConfigurationError, isOtpError } from '../../src/errors/errors.ts';
import type { IssuedOtp } from '../../src/otp/send-code.ts';
import type { PartnerProcess } from './partner-process.ts';
import { pick } from './plan.ts';
import type { Step, World } from './world.ts';

/** Small, so that a scenario reaches every limit. */
export const settings = {
  lifetimeMs: 120_000,
  maxAttempts: 3,
  maxSends: 3,
  cooldownMs: 10_000,
  limits: { messagesPerPhone: { max: 3, windowMs: 3_600_000 } },
};

/** A code that somebody asked for, as it looks to those who see the phone. */
export interface CodeFlow {
  readonly id: string;
  readonly phone: string;
  readonly purpose: string;
  /** What came to the phone. */
  readonly codes: { readonly code: string; readonly sentAt: number }[];
  /** Answers that a guess was wrong: only comparisons are answered so, but for the last one. */
  wrong: number;
  accepted: number;
  /** Before any check, in time of the simulation. */
  cancelledAt: number;
}

const phones = ['+2348012345670', '+2348012345670', '+2348012345671', '+2348012345672'] as const;
const purposes = ['sign-in', 'withdraw'] as const;

export const issueCode: Step = async (world, random) => {
  const phone = pick(random, phones);
  const purpose = pick(random, purposes);
  const process = world.pick(random);
  if (process === undefined) return;
  await send(world, phone, async () => {
    const issued = await world.simulation.within(process.machine, () =>
      process.otp.issue({ to_phone: phone, purpose }),
    );
    const flow: CodeFlow = {
      id: issued.id,
      phone,
      purpose,
      codes: [],
      wrong: 0,
      accepted: 0,
      cancelledAt: Number.POSITIVE_INFINITY,
    };
    world.flows.push(flow);
    return { issued, flow };
  });
};

export const resendCode: Step = async (world, random) => {
  const flow = world.flows.at(-1);
  const process = world.pick(random);
  if (flow === undefined || process === undefined) return;
  await send(world, flow.phone, async () => {
    const wasOver = flow.accepted > 0;
    const issued = await world.simulation.within(process.machine, () => process.otp.resend(flow.id));
    if (wasOver) world.books.breach(`A code of ${flow.phone} was sent again although it was used.`);
    return { issued, flow };
  });
};

/** Sends a code, and reads the phone. */
async function send(
  world: World,
  phone: string,
  work: () => Promise<{ issued: IssuedOtp; flow: CodeFlow }>,
): Promise<void> {
  const { sandbox, simulation } = world;
  const before = sandbox.messages.length;
  try {
    const { issued, flow } = await work();
    // Others may have got a code at the same time.
    const codes = sandbox.messages.slice(before).filter(({ to_phone }) => to_phone === phone);
    if (issued.delivery === 'sent' && codes.length === 0)
      world.books.breach(`A code for ${phone} was told to be sent, and was not.`);
    for (const { message } of codes)
      flow.codes.push({ code: /\d{6}/.exec(message)?.[0] ?? '', sentAt: simulation.time });
    simulation.log(`code ${flow.id.slice(0, 4)} for ${phone}: ${issued.delivery}, ${codes.length} messages`);
  } catch (error) {
    if (!isOtpError(error) || isConfigurationError(error)) throw error;
    simulation.log(`no code for ${phone}: ${error.code}`);
  }
}

/** Somebody types something in. */
export const checkCode: Step = async (world, random) => {
  const { flows, simulation } = world;
  const flow = random.chance(0.7) ? flows.at(-1) : random.pick(flows);
  const process = world.pick(random);
  if (flow === undefined || process === undefined) return;
  const code = random.pick(flow.codes)?.code;
  const guess = (times: number) => check(world, flow, { process, code: wrongCode(flow), times });
  const type = async (how: Partial<Typed> = {}) => {
    if (code !== undefined) await check(world, flow, { process, code, ...how });
  };
  const ways = {
    right: () => type(),
    'at once': () => type({ times: 4 }),
    wrong: () => guess(1),
    guesses: async () => {
      await guess(6);
      await type();
    },
    purpose: () => type({ purpose: 'another' }),
    cancel: async () => {
      await simulation.within(process.machine, () => process.otp.cancel(flow.id));
      flow.cancelledAt = simulation.time;
    },
    'too late': async () => {
      await simulation.delay(settings.lifetimeMs + 5_000);
      await type();
    },
  };
  const way = pick(random, [
    ...(['right', 'right', 'at once', 'wrong', 'guesses', 'purpose', 'cancel', 'too late'] as const),
  ]);
  await ways[way]().catch(ignoreStore);
};

interface Typed {
  readonly process: PartnerProcess;
  readonly code: string;
  readonly purpose?: string;
  readonly times?: number;
}

/** Types a code in: once, or several times at once. */
async function check(
  world: World,
  flow: CodeFlow,
  { process, code, purpose = flow.purpose, times = 1 }: Typed,
): Promise<void> {
  const { books, simulation, plan } = world;
  const isMeant = purpose === flow.purpose;
  const begun = simulation.time;
  const about = `The code ${flow.id.slice(0, 4)} of ${flow.phone} for ${flow.purpose}`;
  const sent = flow.codes.filter((one) => one.code === code);
  const checks = Array.from({ length: times }, async () => {
    try {
      const result = await simulation.within(process.machine, () =>
        process.otp.check(flow.id, code, { purpose }),
      );
      if (!result.ok && result.reason === 'wrong') {
        flow.wrong++;
        if (flow.wrong >= settings.maxAttempts)
          books.breach(`${about}: ${flow.wrong} guesses were compared, and more are left.`);
        if (flow.wrong + 1 === settings.maxAttempts) world.count('a code was used up by wrong guesses');
      }
      if (!result.ok) return;
      flow.accepted++;
      if (!isMeant || sent.length === 0)
        books.breach(`${about} was accepted, and was wrong or for something else.`);
      if (flow.accepted > 1) books.breach(`${about} was accepted twice.`);
      if (flow.cancelledAt < begun) books.breach(`${about} was accepted after it was cancelled.`);
      const isOld = sent.every(({ sentAt }) => begun - sentAt > settings.lifetimeMs + slackMs);
      const isStalled =
        books.disturbancesOf(process.machine, { from: begun, until: simulation.time }).length > 0;
      if (isOld && plan.clocks !== 'jumping' && !isStalled)
        books.breach(`${about} was accepted, and was too old.`);
    } catch (error) {
      ignoreStore(error);
    }
  });
  await Promise.all(checks);
}

/** Clocks differ, and a request takes a while. */
const slackMs = 80_000;

function ignoreStore(error: unknown): void {
  if (!isOtpError(error)) throw error;
}

function wrongCode({ codes }: CodeFlow): string {
  const sent = codes.map(({ code }) => code);
  return ['000000', '111111', '222222', '333333'].find((guess) => !sent.includes(guess)) ?? '444444';
}
