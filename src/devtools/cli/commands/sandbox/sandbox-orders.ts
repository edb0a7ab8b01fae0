import { printableText } from '../../../../internal/printable-text.ts';
import { orderScenarioNames } from '../../../sandbox/service/order-scenarios.ts';
import { orderSteps } from '../../../sandbox/world/order-registry.ts';
import { defineCommand } from '../../terminal/command.ts';
import { type CliContext, type ExitCode, exitCodes } from '../../terminal/context.ts';
import { arg, choiceArg, type FlagsOf, formatFlags, textFlag, wholeNumber } from '../../terminal/flags.ts';
import { openOutput } from '../../terminal/output.ts';
import { type Column, tableLines } from '../../terminal/table.ts';
import type { Paint } from '../../terminal/terminal-text.ts';
import { type AnswerTo, callSandbox } from './call-sandbox.ts';
import { chooseSandbox, type RunningSandbox, sandboxFlags } from './running-sandboxes.ts';

const flags = { ...sandboxFlags, ...formatFlags };
type Flags = FlagsOf<typeof flags>;

const listFlags = { limit: wholeNumber(1, 1000).withDefault('number', 'How many at most', '100'), ...flags };

export const ordersCommand = defineCommand({
  brief: 'List the orders of a running sandbox',
  about:
    'Lists the orders of a running sandbox, the newest first, with the steps that each can take next. --format json has every member, as the control API answers them.',
  examples: [
    'partner-exchange sandbox orders',
    'partner-exchange sandbox orders --order A-1001 --format json',
  ],
  json: '{ total, items }, as GET orders of the control API',
  flags: { order: textFlag.optional('id', 'Only those with this partner_order_id'), ...listFlags },
  run: (context, { order, limit, ...flags }) =>
    showList(context, flags, {
      plural: 'orders',
      ask: (sandbox) => callSandbox(context, sandbox, 'listOrders', { query: { order, limit } }),
      columns: [
        { title: 'order', text: (each) => each.partner_order_id, isWhole: true },
        { title: 'reference', text: (each) => each.platform_order_ref },
        { title: 'state', text: (each) => each.state, isWhole: true, style: () => 'bold' },
        { title: 'amount', text: (each) => `${each.fiat_amount} ${each.fiat_currency}`, isWhole: true },
        { title: 'created', text: (each) => new Date(each.createdAt).toISOString() },
        { title: 'next steps', text: (each) => each.next.join(', ') || 'none' },
      ],
    }),
});

export const emails = defineCommand({
  brief: 'List the e-mails of a running sandbox, with their one-time links',
  about:
    'Lists the e-mails that the service would have sent, the newest first. A link opens once, and shows the keys of a partner.',
  examples: ['partner-exchange sandbox emails', 'partner-exchange sandbox emails --limit 1 --format json'],
  json: '{ total, items }, as GET emails of the control API',
  flags: listFlags,
  run: (context, { limit, ...flags }) =>
    showList(context, flags, {
      plural: 'e-mails',
      ask: (sandbox) => callSandbox(context, sandbox, 'listEmails', { query: { limit } }),
      columns: [
        { title: 'sent', text: (each) => new Date(each.sentAt).toISOString() },
        { title: 'partner', text: (each) => each.partner_code },
        { title: 'to', text: (each) => each.to },
        { title: 'kind', text: (each) => each.kind, isWhole: true },
        { title: 'link', text: (each) => each.link, isWhole: true },
      ],
    }),
});

export const messages = defineCommand({
  brief: 'List the messages of a running sandbox, with their codes',
  about: 'Lists the texts that were sent to phones, the newest first: one-time codes are in them.',
  examples: [
    'partner-exchange sandbox messages',
    'partner-exchange sandbox messages --limit 1 --format json',
  ],
  json: '{ total, items }, as GET messages of the control API',
  flags: listFlags,
  run: (context, { limit, ...flags }) =>
    showList(context, flags, {
      plural: 'messages',
      ask: (sandbox) => callSandbox(context, sandbox, 'listMessages', { query: { limit } }),
      columns: [
        { title: 'sent', text: (each) => new Date(each.sentAt).toISOString() },
        { title: 'device', text: (each) => each.messenger_device_no },
        { title: 'to', text: (each) => each.to_phone, isWhole: true },
        { title: 'message', text: (each) => each.message, isWhole: true },
      ],
    }),
});

interface Listing<Item> {
  readonly plural: string;
  readonly ask: (
    sandbox: RunningSandbox,
  ) => Promise<{ readonly total: number; readonly items: readonly Item[] }>;
  readonly columns: readonly Column<Item>[];
}

async function showList<Item>(
  context: CliContext,
  flags: Flags,
  { plural, ask, columns }: Listing<Item>,
): Promise<ExitCode> {
  const output = openOutput(context, flags);
  const answer = await ask(await chooseSandbox(context, flags));
  const { total, items } = answer;
  output.result(answer, (paint) => tableLines(items, columns, { stdout: context.stdout, paint }));
  if (total > items.length) {
    output.status(`These are the newest ${items.length} of ${total} ${plural}: --limit shows up to 1000.`);
  }
  return exitCodes.ok;
}

const order = arg('order', 'Its partner_order_id, or its platform_order_ref if two partners use the same id');
const delivered = 'Exits with 1 if your receiver does not acknowledge an event.';

export const advance = defineCommand({
  brief: 'Move an order one step on, and post its event',
  about: `Moves an order one step on, and posts its event to the partner_callback_url of the order. ${delivered}`,
  examples: [
    'partner-exchange sandbox advance A-1001 fiat_received',
    'partner-exchange sandbox advance A-1001 credited --port 4300',
  ],
  json: '{ order, delivery }',
  flags,
  args: [order, choiceArg('step', orderSteps, orderSteps.join(', '))],
  run: (context, flags, order, step) =>
    showMoved(context, flags, async (sandbox) => {
      const answer = await callSandbox(context, sandbox, 'advanceOrder', {
        params: { order },
        body: { step },
      });
      return { answer, order: answer.order, deliveries: [answer.delivery] };
    }),
});

export const play = defineCommand({
  brief: 'Take a new order through a scenario',
  about: `Takes a new order through all steps of a scenario, and posts their events. ${delivered}`,
  examples: [
    'partner-exchange sandbox play A-1001 happy',
    'partner-exchange sandbox play A-1002 events_repeated',
  ],
  json: '{ order, deliveries }',
  flags,
  args: [order, choiceArg('scenario', orderScenarioNames, orderScenarioNames.join(', '))],
  run: (context, flags, order, scenario) =>
    showMoved(context, flags, async (sandbox) => {
      const answer = await callSandbox(context, sandbox, 'playOrder', {
        params: { order },
        body: { scenario },
      });
      return { answer, ...answer };
    }),
});

interface Moved {
  /** The answer of the control API. */
  readonly answer: object;
  readonly order: AnswerTo<'advanceOrder'>['order'];
  readonly deliveries: readonly AnswerTo<'advanceOrder'>['delivery'][];
}

async function showMoved(
  context: CliContext,
  flags: Flags,
  move: (sandbox: RunningSandbox) => Promise<Moved>,
): Promise<ExitCode> {
  const output = openOutput(context, flags);
  const { answer, order, deliveries } = await move(await chooseSandbox(context, flags));
  output.result(answer, (paint) => [
    `${printableText(order.partner_order_id)} is ${paint('bold', order.state)}.`,
    ...(deliveries.length === 0 ? [] : deliveryLines(context, deliveries, paint)),
  ]);
  if (deliveries.every(({ acknowledged }) => acknowledged)) return exitCodes.ok;
  output.status(
    'Not every event was acknowledged. Next: look at the log of your receiver, or at the inspector.',
  );
  return exitCodes.findings;
}

function deliveryLines(
  { stdout }: CliContext,
  deliveries: Moved['deliveries'],
  paint: Paint,
): readonly string[] {
  return tableLines(
    deliveries,
    [
      {
        title: 'answer',
        text: ({ status, error }) => String(status ?? error ?? 'none'),
        isWhole: true,
        style: ({ acknowledged }) => (acknowledged ? 'green' : 'red'),
      },
      { title: 'event', text: ({ name }) => name, isWhole: true },
      { title: 'posted to', text: ({ url }) => url },
    ],
    { stdout, paint },
  );
}
