import { buildRouteMap } from '@stricli/core';
import type { OrderCreateFlags } from '../commands/order-create.ts';
import type { Decision, OrderSettleFlags, OrderUnsettledFlags } from '../commands/order-journal.ts';
import { commonFlags, confirmFlags, formatFlags, signingFlags } from './common-flags.ts';
import { defineCommand } from './define-command.ts';
import { oneOf, wholeNumber } from './parse-flag.ts';
import { merchantFlag } from './signing-flags.ts';
import { synopses } from './synopses.ts';

const journalFlag = {
  kind: 'parsed',
  parse: String,
  placeholder: 'store',
  brief: 'The order journal: SQLite file, redis: or postgres: address, or env:NAME of a variable',
} as const;

const createCommand = defineCommand<OrderCreateFlags, [path?: string]>({
  brief: 'Create an order, once',
  about:
    'Creates the order of a JSON file. The journal knows of it before the service does, so that no order is sent twice: always give the same journal. The body is shown and asked for first. Exits with 3 if the service may have the order, and says what to do.',
  examples: [
    'partner-exchange order create order.json --journal orders.sqlite',
    'partner-exchange order create order.json --journal orders.sqlite --yes --save reply.json',
    'partner-exchange order create order.json --journal orders.sqlite --dry-run',
  ],
  parameters: {
    flags: {
      journal: journalFlag,
      merchant: merchantFlag,
      save: {
        kind: 'parsed',
        parse: String,
        placeholder: 'file',
        brief: 'Keep the reply in a new file that only you can read; what is printed hides links and keys',
        optional: true,
      },
      again: {
        kind: 'boolean',
        brief: 'Send an order that the service has refused once more as it is',
        default: false,
        withNegated: false,
      },
      dryRun: {
        kind: 'boolean',
        brief: 'Print the signed text, and send nothing',
        default: false,
        withNegated: false,
      },
      ...confirmFlags,
      ...signingFlags,
      ...formatFlags,
      ...commonFlags,
    },
    positional: {
      kind: 'tuple',
      parameters: [
        { brief: 'JSON of the order (default: stdin)', placeholder: 'file', parse: String, optional: true },
      ],
    },
  },
  load: async () => (await import('../commands/order-create.ts')).orderCreate,
});

const unsettledCommand = defineCommand<OrderUnsettledFlags>({
  brief: 'List orders of which nobody knows how they ended',
  about:
    'Lists the orders that are prepared, being sent or unknown, the oldest first. Needs no keys, and sends nothing.',
  examples: [
    'partner-exchange order unsettled --journal orders.sqlite',
    'partner-exchange order unsettled --journal env:DATABASE_URL --older-than-minutes 30 --format json',
  ],
  parameters: {
    flags: {
      journal: journalFlag,
      olderThanMinutes: {
        kind: 'parsed',
        parse: wholeNumber(0, 100_000_000),
        placeholder: 'minutes',
        brief: 'Only those that have been unsettled for so long',
        default: '0',
      },
      limit: {
        kind: 'parsed',
        parse: wholeNumber(1, 100_000),
        placeholder: 'number',
        brief: 'How many at most',
        default: '1000',
      },
      ...formatFlags,
      ...commonFlags,
    },
  },
  load: async () => (await import('../commands/order-journal.ts')).orderUnsettled,
});

const decisions = ['accepted', 'abandoned'] as const satisfies readonly Decision[];

const settleCommand = defineCommand<OrderSettleFlags, [id: string, decision: Decision]>({
  brief: 'Write down what became of an order',
  about:
    'A decision of yours, after looking at the service: it has the order (accepted), or it does not and never will (abandoned). Needs no keys, and sends nothing.',
  examples: [
    'partner-exchange order settle A-1001 accepted --note "Seen in the dashboard" --journal orders.sqlite',
  ],
  parameters: {
    flags: {
      journal: journalFlag,
      note: {
        kind: 'parsed',
        parse: String,
        placeholder: 'text',
        brief: 'Why; it is kept: nothing personal',
      },
      ...formatFlags,
      ...commonFlags,
    },
    positional: {
      kind: 'tuple',
      parameters: [
        { brief: 'partner_order_id', placeholder: 'id', parse: String },
        {
          brief: decisions.join(' or '),
          placeholder: 'decision',
          parse: oneOf(decisions),
          proposeCompletions: () => decisions,
        },
      ],
    },
  },
  load: async () => (await import('../commands/order-journal.ts')).orderSettle,
});

export const orderRoutes = buildRouteMap({
  routes: { create: createCommand, unsettled: unsettledCommand, settle: settleCommand },
  docs: { brief: synopses.order.brief },
});
