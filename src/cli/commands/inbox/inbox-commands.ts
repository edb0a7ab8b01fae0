import { buildRouteMap } from '@stricli/core';
import type { DeadLetter, ManagedInbox } from '../../../inbox/inbox.ts';
import { printableText } from '../../../internal/printable-text.ts';
import { digestArg, findByDigest } from '../../inputs/digests.ts';
import { confirm } from '../../inputs/input.ts';
import { defineCommand } from '../../terminal/command.ts';
import { CliError, exitCodes } from '../../terminal/context.ts';
import {
  confirmFlags,
  type FlagsOf,
  formatFlags,
  manyArgs,
  tableFlags,
  textFlag,
  toggle,
  wholeNumber,
} from '../../terminal/flags.ts';
import { type Output, openOutput } from '../../terminal/output.ts';
import { withInbox } from './open-inbox.ts';

/** A list of this length is too long to read. */
const maxLetters = 100_000;
const digestLength = 64;

const flags = {
  inbox: textFlag.required(
    'store',
    'SQLite file, redis: address (BullMQ), postgres: address (storeInbox or pg-boss), or env:NAME of a variable',
  ),
  queue: textFlag.optional('name', 'The queue of BullMQ, or of pg-boss (there partner_inbox by default)'),
  prefix: textFlag.optional('text', 'The prefix of BullMQ or of storeInbox, if it is not its default'),
  ...tableFlags,
  schema: textFlag.optional('name', 'PostgreSQL: the schema of the table, or of pg-boss'),
  ...formatFlags,
};

const replayFlags = { all: toggle('All dead letters'), ...flags };
type ReplayFlags = FlagsOf<typeof replayFlags>;

const list = defineCommand({
  brief: 'List the dead letters',
  about: 'Lists the events that failed at every attempt, the oldest first, without their bodies.',
  examples: [
    'partner-exchange inbox list --inbox inbox.sqlite',
    'partner-exchange inbox list --inbox env:DATABASE_URL --schema shop',
    'partner-exchange inbox list --inbox env:REDIS_URL --queue partner-inbox --format json',
  ],
  flags: {
    limit: wholeNumber(1, maxLetters).withDefault('number', 'How many at most', '100'),
    ...flags,
  },
  async run(context, flags) {
    const output = openOutput(context, flags);
    return await withInbox(context, flags, async (inbox) => {
      for (const letter of await inbox.deadLetters({ limit: flags.limit })) {
        output.item(letter, (paint) => {
          const { digest, name, attempts, receivedAt, reason } = letter;
          const facts = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}, received ${receivedAt.toISOString()}`;
          return `${paint('bold', digest.slice(0, 12))} ${printableText(name)} (${facts}): ${printableText(reason)}`;
        });
      }
      const { open, dead, quarantined } = await inbox.counts();
      const kept =
        quarantined === undefined ? '' : ` ${quarantined} in quarantine: nobody can verify them yet.`;
      output.status(`${dead} dead, ${open} open.${kept}`);
      return exitCodes.ok;
    });
  },
});

const show = defineCommand({
  brief: 'Show a dead letter with its body',
  about: 'Shows the body as well, which holds personal data.',
  examples: ['partner-exchange inbox show 3f9a2c --inbox inbox.sqlite'],
  flags,
  args: [digestArg('Digest, or its beginning')],
  async run(context, flags, digest) {
    const output = openOutput(context, flags);
    return await withInbox(context, flags, async (inbox) => {
      const [wanted] = await findLetters(inbox, [digest]);
      const letter = wanted && (await inbox.deadLetter(wanted.digest, { withBody: true }));
      if (letter === undefined) throw notFound(digest);
      output.result(letter, () => [
        `digest:   ${letter.digest}`,
        `name:     ${printableText(letter.name)}`,
        `attempts: ${letter.attempts}`,
        `received: ${letter.receivedAt.toISOString()}`,
        `reason:   ${printableText(letter.reason)}`,
        printableText(letter.body ?? ''),
      ]);
      return exitCodes.ok;
    });
  },
});

const replay = defineCommand({
  brief: 'Have dead letters tried again',
  about:
    'Puts dead letters back into the inbox, with all their attempts. A process that handles this inbox takes them soon.',
  examples: [
    'partner-exchange inbox replay 3f9a2c --inbox inbox.sqlite',
    'partner-exchange inbox replay --all --inbox inbox.sqlite',
  ],
  flags: replayFlags,
  args: manyArgs(digestArg('Digest, or its beginning')),
  async run(context, flags, ...digests) {
    const output = openOutput(context, flags);
    checkChoice(flags, digests);
    return await withInbox(context, flags, async (inbox) => {
      const done = await applyToEach(output, await selectLetters(inbox, flags, digests), (digest) =>
        inbox.replay(digest),
      );
      output.status(`${done} will be handled again as soon as a process that handles this inbox runs.`);
      return exitCodes.ok;
    });
  },
});

const discard = defineCommand({
  brief: 'Drop dead letters',
  about:
    'Drops dead letters for ever, after a question. The inbox still recognizes an event that the service repeats.',
  examples: ['partner-exchange inbox discard 3f9a2c --inbox inbox.sqlite --yes'],
  flags: { ...replayFlags, ...confirmFlags },
  args: manyArgs(digestArg('Digest, or its beginning')),
  async run(context, flags, ...digests) {
    const output = openOutput(context, flags);
    checkChoice(flags, digests);
    return await withInbox(context, flags, async (inbox) => {
      const letters = await selectLetters(inbox, flags, digests);
      if (letters.length > 0) {
        const what = letters.length === 1 ? 'this event' : `these ${letters.length} events`;
        await confirm(context, flags, `Drop ${what} for ever?`);
      }
      const done = await applyToEach(output, letters, (digest) => inbox.discard(digest));
      output.status(`${done} dropped. Their repetitions are still recognized.`);
      return exitCodes.ok;
    });
  },
});

export default buildRouteMap({
  routes: { list, show, replay, discard },
  docs: { brief: 'The dead letters of a durable inbox' },
});

function checkChoice({ all }: ReplayFlags, digests: readonly string[]): void {
  if (all === (digests.length === 0)) return;
  throw new CliError('Name digests, as "inbox list" prints them, or give --all.');
}

async function selectLetters(
  inbox: ManagedInbox,
  { all }: ReplayFlags,
  digests: readonly string[],
): Promise<readonly DeadLetter[]> {
  return all ? await inbox.deadLetters({ limit: maxLetters }) : await findLetters(inbox, digests);
}

/** The dead letters whose digests begin with these; all are found before any is touched. */
async function findLetters(inbox: ManagedInbox, digests: readonly string[]): Promise<readonly DeadLetter[]> {
  // Only the beginning of a digest needs the list.
  const isShort = digests.some((given) => given.length < digestLength);
  const letters = isShort ? await inbox.deadLetters({ limit: maxLetters }) : [];
  const found: DeadLetter[] = [];
  for (const given of digests) {
    const letter =
      given.length === digestLength
        ? await inbox.deadLetter(given)
        : findByDigest(letters, given, 'dead letters');
    if (letter === undefined) throw notFound(given);
    found.push(letter);
  }
  return found;
}

function notFound(digest: string): CliError {
  const message = `There is no dead letter ${digest}: see "inbox list".`;
  return new CliError(message, { exitCode: exitCodes.findings });
}

async function applyToEach(
  output: Output,
  letters: readonly DeadLetter[],
  act: (digest: string) => Promise<boolean>,
): Promise<number> {
  let done = 0;
  for (const { digest, name } of letters) {
    const found = await act(digest);
    if (found) done++;
    const what = found ? 'done' : 'gone: another process was faster';
    output.item({ digest, name, done: found }, () => `${digest.slice(0, 12)} ${printableText(name)} ${what}`);
  }
  return done;
}
