import { buildRouteMap } from '@stricli/core';
import { longestAdvanceMs } from '../../../sandbox/control/sandbox-endpoints.ts';
import { defineCommand } from '../../terminal/command.ts';
import {
  type CliContext,
  CliError,
  type ExitCode,
  exitCodes,
  type RunContext,
} from '../../terminal/context.ts';
import { type FlagsOf, formatFlags } from '../../terminal/flags.ts';
import { openOutput } from '../../terminal/output.ts';
import { type AnswerTo, callSandbox } from './call-sandbox.ts';
import { chooseSandbox, type RunningSandbox, sandboxFlags } from './running-sandboxes.ts';

const flags = { ...sandboxFlags, ...formatFlags };
type Flags = FlagsOf<typeof flags>;
type Clock = AnswerTo<'advanceClock'>;

const show = defineCommand({
  brief: "Show the sandbox's time",
  about: "Shows the sandbox's time, and when its next work is due: a repeated or delayed event.",
  examples: ['partner-exchange sandbox clock', 'partner-exchange sandbox clock show --format json'],
  json: '{ now, nextAt? }, in milliseconds since 1970',
  flags,
  run: (context, flags) =>
    showClock(context, flags, async (sandbox) => (await callSandbox(context, sandbox, 'getState', {})).clock),
});

const advance = defineCommand({
  brief: "Move the sandbox's time forward",
  about:
    "Moves the sandbox's time forward. All work that is due until then is done before this command ends: repeated and delayed events are posted and answered.",
  examples: ['partner-exchange sandbox clock advance 1h', 'partner-exchange sandbox clock advance 1d12h'],
  json: '{ now, nextAt? }, in milliseconds since 1970',
  flags,
  args: [
    { placeholder: 'duration', brief: 'Such as 500ms, 30s, 10m, 1h, 2d, or 1h30m', parse: parseDuration },
  ],
  run: (context, flags, ms) => showClock(context, flags, (sandbox) => advanceClock(context, sandbox, ms)),
});

const set = defineCommand({
  brief: 'Move the time forward to a moment',
  about: "Moves the sandbox's time forward to a moment, as `clock advance` does. It cannot move back.",
  examples: ['partner-exchange sandbox clock set 2030-01-02T03:04:05Z'],
  json: '{ now, nextAt? }, in milliseconds since 1970',
  flags,
  args: [{ placeholder: 'time', brief: 'ISO 8601 with its zone: 2030-01-02T03:04:05Z', parse: parseTime }],
  run: (context, flags, time) =>
    showClock(context, flags, async (sandbox) => {
      const { clock } = await callSandbox(context, sandbox, 'getState', {});
      const ms = time - clock.now;
      if (ms < 0) {
        throw new CliError(
          `The sandbox's time cannot move back: it is ${new Date(clock.now).toISOString()} already.`,
        );
      }
      return advanceClock(context, sandbox, ms);
    }),
});

const drain = defineCommand({
  brief: 'Move the time forward until no work waits for it',
  about:
    "Moves the sandbox's time forward until every repeated and delayed event is posted. With many retries that can be days.",
  examples: ['partner-exchange sandbox clock drain'],
  json: '{ now, nextAt? }, in milliseconds since 1970',
  flags,
  run: (context, flags) =>
    showClock(context, flags, (sandbox) => callSandbox(context, sandbox, 'drainClock', {})),
});

export const clockCommands = buildRouteMap<string, RunContext>({
  routes: { show, advance, set, drain },
  docs: { brief: "Show the sandbox's time, or move it forward" },
});

function advanceClock(context: CliContext, sandbox: RunningSandbox, ms: number): Promise<Clock> {
  if (ms > longestAdvanceMs) {
    throw new CliError("The sandbox's time moves at most 36500 days forward at once.");
  }
  return callSandbox(context, sandbox, 'advanceClock', { body: { ms } });
}

async function showClock(
  context: CliContext,
  flags: Flags,
  read: (sandbox: RunningSandbox) => Promise<Clock>,
): Promise<ExitCode> {
  const output = openOutput(context, flags);
  const clock = await read(await chooseSandbox(context, flags));
  output.result(clock, (paint) => [
    `It is ${paint('bold', new Date(clock.now).toISOString())} in the sandbox.`,
    clock.nextAt === undefined
      ? 'No work waits for a later time.'
      : `The next work is due at ${new Date(clock.nextAt).toISOString()}.`,
  ]);
  return exitCodes.ok;
}

const unitsMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Parses `1h30m` to milliseconds. */
function parseDuration(input: string): number {
  const parts = [...input.matchAll(/(\d{1,12})(ms|[smhd])/g)];
  const ms = parts.reduce((total, [, amount, unit = '']) => total + Number(amount) * (unitsMs[unit] ?? 0), 0);
  if (parts.length > 0 && parts.map(([part]) => part).join('') === input && Number.isSafeInteger(ms))
    return ms;
  throw new CliError('must be a time with its unit, such as 500ms, 30s, 10m, 1h, 2d, or 1h30m');
}

/** Parses ISO 8601 to milliseconds since 1970. Without a zone it would depend on the machine. */
function parseTime(input: string): number {
  const time = /^\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d))?$/.test(input)
    ? Date.parse(input)
    : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new CliError('must be a time in ISO 8601 with its zone, such as 2030-01-02T03:04:05Z');
}
