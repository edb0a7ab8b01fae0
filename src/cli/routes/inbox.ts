import { buildRouteMap } from '@stricli/core';
import type { InboxDiscardFlags, InboxFlags, InboxListFlags, InboxReplayFlags } from '../commands/inbox.ts';
import { commonFlags, confirmFlags, formatFlags } from './common-flags.ts';
import { defineCommand } from './define-command.ts';
import { wholeNumber } from './parse-flag.ts';
import { synopses } from './synopses.ts';

const inboxFlags = {
  inbox: {
    kind: 'parsed',
    parse: String,
    placeholder: 'store',
    brief: 'SQLite file, redis: address (BullMQ), postgres: address (pg-boss), or env:NAME of a variable',
  },
  queue: {
    kind: 'parsed',
    parse: String,
    placeholder: 'name',
    brief: 'The queue of BullMQ, or of pg-boss (there partner_inbox by default)',
    optional: true,
  },
  prefix: {
    kind: 'parsed',
    parse: String,
    placeholder: 'text',
    brief: 'The prefix of BullMQ, if it is not its default',
    optional: true,
  },
  schema: {
    kind: 'parsed',
    parse: String,
    placeholder: 'name',
    brief: 'The schema of pg-boss, if it is not its default',
    optional: true,
  },
  ...formatFlags,
  ...commonFlags,
} as const;

const allFlag = {
  kind: 'boolean',
  brief: 'All dead letters',
  default: false,
  withNegated: false,
} as const;

const digest = {
  brief: 'Digest, or its beginning',
  placeholder: 'digest',
  parse: String,
} as const;

const listCommand = defineCommand<InboxListFlags>({
  brief: 'List the dead letters',
  about: 'Lists the events that failed at every attempt, the oldest first, without their bodies.',
  examples: [
    'partner-exchange inbox list --inbox inbox.sqlite',
    'partner-exchange inbox list --inbox env:REDIS_URL --queue partner-inbox --format json',
  ],
  parameters: {
    flags: {
      limit: {
        kind: 'parsed',
        parse: wholeNumber(1, 100_000),
        placeholder: 'number',
        brief: 'How many at most',
        default: '100',
      },
      ...inboxFlags,
    },
  },
  load: async () => (await import('../commands/inbox.ts')).inboxList,
});

const showCommand = defineCommand<InboxFlags, [digest: string]>({
  brief: 'Show a dead letter with its body',
  about: 'Shows the body as well, which holds personal data.',
  examples: ['partner-exchange inbox show 3f9a2c --inbox inbox.sqlite'],
  parameters: { flags: inboxFlags, positional: { kind: 'tuple', parameters: [digest] } },
  load: async () => (await import('../commands/inbox.ts')).inboxShow,
});

const replayCommand = defineCommand<InboxReplayFlags, string[]>({
  brief: 'Have dead letters tried again',
  about: 'Puts them back with all their attempts: a process that handles this inbox takes them soon.',
  examples: [
    'partner-exchange inbox replay 3f9a2c --inbox inbox.sqlite',
    'partner-exchange inbox replay --all --inbox inbox.sqlite',
  ],
  parameters: {
    flags: { all: allFlag, ...inboxFlags },
    positional: { kind: 'array', parameter: digest },
  },
  load: async () => (await import('../commands/inbox.ts')).inboxReplay,
});

const discardCommand = defineCommand<InboxDiscardFlags, string[]>({
  brief: 'Drop dead letters',
  about: 'Drops them for ever, after a question. Their repetitions are still recognized.',
  examples: ['partner-exchange inbox discard 3f9a2c --inbox inbox.sqlite --yes'],
  parameters: {
    flags: { all: allFlag, ...confirmFlags, ...inboxFlags },
    positional: { kind: 'array', parameter: digest },
  },
  load: async () => (await import('../commands/inbox.ts')).inboxDiscard,
});

export const inboxRoutes = buildRouteMap({
  routes: { list: listCommand, show: showCommand, replay: replayCommand, discard: discardCommand },
  docs: { brief: synopses.inbox.brief },
});
