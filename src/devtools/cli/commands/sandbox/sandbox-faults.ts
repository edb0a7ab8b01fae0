import { buildRouteMap } from '@stricli/core';
import { eventFaultNames, type FaultDetails } from '../../../sandbox/settings/event-faults.ts';
import { faultScenarioNames, faultTargets, requestFaultNames } from '../../../sandbox/settings/faults.ts';
import { denialNames, replyFormNames } from '../../../sandbox/settings/reply-forms.ts';
import { defineCommand } from '../../terminal/command.ts';
import {
  type CliContext,
  CliError,
  type ExitCode,
  exitCodes,
  type RunContext,
} from '../../terminal/context.ts';
import {
  choiceArg,
  type FlagsOf,
  formatFlags,
  parsedBy,
  textFlag,
  wholeNumber,
} from '../../terminal/flags.ts';
import { openOutput } from '../../terminal/output.ts';
import { tableLines } from '../../terminal/table.ts';
import { type AnswerTo, callSandbox } from './call-sandbox.ts';
import { chooseSandbox, type RunningSandbox, sandboxFlags } from './running-sandboxes.ts';

const flags = { ...sandboxFlags, ...formatFlags };
type Flags = FlagsOf<typeof flags>;
type Faults = AnswerTo<'getFaults'>;

/** Stands for every request and every event, where a rate can. */
const everywhere = 'all';
const targets = [everywhere, ...faultTargets.request, ...faultTargets.event];
const names = [...requestFaultNames, ...eventFaultNames];

const target = choiceArg('target', targets, `Where: ${targets.join(', ')}`);
const fault = choiceArg('fault', names, `What: ${names.join(', ')} (docs/details/sandbox.md)`);

const list = defineCommand({
  brief: 'List the faults of a running sandbox',
  about: 'Lists the faults that are planned, and the rates of those that happen at random.',
  examples: ['partner-exchange sandbox faults', 'partner-exchange sandbox faults list --format json'],
  json: '{ next: [{ target, fault }], rates }',
  flags,
  run: (context, flags) =>
    showFaults(context, flags, (sandbox) => callSandbox(context, sandbox, 'getFaults', {})),
});

const add = defineCommand({
  brief: 'Add a fault: for the next time, or at a rate',
  about:
    'Plans a fault for the next request of an operation, or for the next event of a name. With --rate it happens at random until it is removed, and may be for all requests and events.',
  examples: [
    'partner-exchange sandbox faults add createOrder reply_lost',
    'partner-exchange sandbox faults add createOrder server_error --status 503 --when after',
    'partner-exchange sandbox faults add all duplicate --rate 0.2',
    'partner-exchange sandbox faults add event.buy.credited.crypto member_missing --member payer_into_account.bank_name',
    'partner-exchange sandbox faults add createOrder other_reply --form html',
  ],
  json: '{ next: [{ target, fault }], rates }',
  flags: {
    rate: parsedBy(parseProbability).optional(
      'probability',
      'How often, from 0 to 1 (default: once, the next time)',
    ),
    when: {
      kind: 'enum',
      values: ['before', 'after'],
      brief: 'Before the service acts, or after it',
      optional: true,
    },
    status: wholeNumber(100, 599).optional('number', 'HTTP status of the reply'),
    retryAfterSeconds: wholeNumber(0, 86_400).optional('seconds', 'The Retry-After of the reply'),
    location: textFlag.optional('url', 'Where a redirect leads'),
    bytes: wholeNumber(0, 1_048_576).optional(
      'number',
      'Bytes before the connection breaks, or of one piece',
    ),
    delayMs: wholeNumber(0, 86_400_000).optional('ms', 'How late an event is, or a piece of a reply'),
    form: {
      kind: 'enum',
      values: [...replyFormNames, ...denialNames],
      brief: 'Body of the reply, for other_reply and ok_with_error',
      optional: true,
    },
    member: textFlag.optional('path', 'Member of the event that changes: payer_into_account.bank_name'),
    ...flags,
  },
  args: [target, fault],
  async run(
    context,
    { rate, when, status, retryAfterSeconds, location, bytes, delayMs, form, member, ...flags },
    target,
    kind,
  ) {
    const details = defined({ when, status, retryAfterSeconds, location, bytes, delayMs, form, member });
    if (rate === undefined && target === everywhere) {
      throw new CliError(
        'A fault of all needs a --rate: for the next time, name request, event, or one of them.',
      );
    }
    return await changeFaults(context, flags, ({ next, rates }) =>
      rate === undefined
        ? { next: [...next, { target, fault: { kind, ...details } }], rates }
        : {
            next,
            rates: { ...rates, [target]: { ...rates[target], [kind]: { probability: rate, ...details } } },
          },
    );
  },
});

const remove = defineCommand({
  brief: 'Remove a fault: its rate, and each time that it is planned',
  about: 'Removes a fault at a target: its rate, and each time that it is planned there.',
  examples: ['partner-exchange sandbox faults remove all duplicate'],
  json: '{ next: [{ target, fault }], rates }',
  flags,
  args: [target, fault],
  run: (context, flags, target, kind) =>
    changeFaults(context, flags, ({ next, rates }) => {
      const { [kind]: _, ...others } = rates[target] ?? {};
      const isRemoved = (planned: Faults['next'][number]) =>
        planned.target === target && kindOf(planned.fault) === kind;
      return { next: next.filter((planned) => !isRemoved(planned)), rates: { ...rates, [target]: others } };
    }),
});

const scenario = defineCommand({
  brief: 'Set the rates of a named scenario',
  about: `Sets the rates of a named scenario, in place of all earlier rates: ${faultScenarioNames.join(', ')}.`,
  examples: ['partner-exchange sandbox faults scenario hostile'],
  json: '{ next: [{ target, fault }], rates }',
  flags,
  args: [choiceArg('name', faultScenarioNames, 'Name of the scenario')],
  run: (context, flags, name) =>
    showFaults(context, flags, (sandbox) =>
      callSandbox(context, sandbox, 'setFaultScenario', { body: { name } }),
    ),
});

const clear = defineCommand({
  brief: 'Remove all faults',
  about: 'Removes every rate and every planned fault.',
  examples: ['partner-exchange sandbox faults clear'],
  json: '{ next: [{ target, fault }], rates }',
  flags,
  run: (context, flags) => changeFaults(context, flags, () => ({})),
});

export const faultsCommands = buildRouteMap<string, RunContext>({
  routes: { list, add, remove, scenario, clear },
  docs: { brief: 'List and change the faults of a running sandbox' },
});

function changeFaults(
  context: CliContext,
  flags: Flags,
  change: (faults: Faults) => Partial<Faults>,
): Promise<ExitCode> {
  return showFaults(context, flags, async (sandbox) => {
    const faults = await callSandbox(context, sandbox, 'getFaults', {});
    return callSandbox(context, sandbox, 'setFaults', { body: change(faults) });
  });
}

function kindOf(fault: Faults['next'][number]['fault']) {
  return typeof fault === 'string' ? fault : fault.kind;
}

function defined<Members extends object>(members: Members): Partial<Members> {
  // Sound: fewer members of the same.
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined),
  ) as Partial<Members>;
}

async function showFaults(
  context: CliContext,
  flags: Flags,
  ask: (sandbox: RunningSandbox) => Promise<Faults>,
): Promise<ExitCode> {
  const output = openOutput(context, flags);
  const answer = await ask(await chooseSandbox(context, flags));
  output.result(answer, (paint) => {
    const rows = rowsOf(answer);
    if (rows.length === 0) return ['There are no faults.'];
    return tableLines(
      rows,
      [
        { title: 'when', text: ({ often }) => often, isWhole: true },
        { title: 'target', text: ({ target }) => target, isWhole: true },
        { title: 'fault', text: ({ fault }) => fault, isWhole: true, style: () => 'yellow' },
        { title: 'details', text: ({ details }) => details },
      ],
      { stdout: context.stdout, paint },
    );
  });
  return exitCodes.ok;
}

function rowsOf({ next, rates }: Faults) {
  return [
    ...next.map(({ target, fault }) => {
      const { kind: _, ...details } = typeof fault === 'string' ? { kind: fault } : fault;
      return { often: 'next', target, fault: kindOf(fault), details: describeDetails(details) };
    }),
    ...Object.entries(rates).flatMap(([target, each]) =>
      Object.entries(each).map(([fault, rate]) => {
        const { probability, ...details } = typeof rate === 'number' ? { probability: rate } : rate;
        return { often: `${probability * 100} %`, target, fault, details: describeDetails(details) };
      }),
    ),
  ];
}

function describeDetails(details: FaultDetails): string {
  return Object.entries(details)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}

function parseProbability(input: string): number {
  const number = /^\d(?:\.\d{1,9})?$/.test(input) ? Number(input) : Number.NaN;
  if (number >= 0 && number <= 1) return number;
  throw new CliError('must be a probability from 0 to 1, such as 0.2');
}
