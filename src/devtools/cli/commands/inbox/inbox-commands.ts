import { buildRouteMap } from '@stricli/core';
import type { DeadLetter } from '../../../../inbox/dead-letters.ts';
import type { DeliveryStatus } from '../../../../inbox/inbox.ts';
import { inboxPrefix, type StoreInbox, storeInbox } from '../../../../inbox/store/store-inbox.ts';
import { printableText } from '../../../../internal/printable-text.ts';
import { confirm } from '../../inputs/input.ts';
import { parseStoreAddress, requireRecords, withStore } from '../../inputs/open-store.ts';
import { defineCommand } from '../../terminal/command.ts';
import { type CliContext, CliError, exitCodes } from '../../terminal/context.ts';
import {
  confirmFlags,
  type FlagsOf,
  formatFlags,
  manyArgs,
  tableFlags,
  textFlag,
  toggle,
} from '../../terminal/flags.ts';
import { type Output, openOutput } from '../../terminal/output.ts';
import { adviceOf, deliveryLines } from './describe-delivery.ts';
import { discardProbes, type ProbeRecords } from './discard-probes.ts';

/** A list of this length is too long to read. */
const maxLetters = 100_000;

const flags = {
  inbox: textFlag.required(
    'store',
    'SQLite file, redis: or postgres: address of a storeInbox, or env:NAME of a variable',
  ),
  prefix: textFlag.optional('text', 'The prefix of a storeInbox, if it is not its default'),
  ...tableFlags,
  ...formatFlags,
};

const digestArg = { placeholder: 'digest', brief: 'Digest, or its beginning', parse: parseDigest } as const;

/** The SHA-256 of an event's body, in hexadecimal digits, or its beginning. */
function parseDigest(input: string): string {
  if (/^[0-9a-f]{6,64}$/.test(input)) return input;
  throw new CliError('must be 64 hexadecimal digits, or at least the first six of them');
}

const replayFlags = { all: toggle('All dead letters'), ...flags };
type ReplayFlags = FlagsOf<typeof replayFlags>;

const list = defineCommand({
  brief: 'List the dead letters',
  about: 'Lists the events that failed at every attempt, the oldest first, without their bodies.',
  examples: [
    'partner-exchange inbox list --inbox inbox.sqlite',
    'partner-exchange inbox list --inbox env:DATABASE_URL --schema shop',
    'partner-exchange inbox list --inbox env:REDIS_URL --format json',
  ],
  json: 'A line for each dead letter: { digest, name, attempts, receivedAt, reason }',
  flags,
  async run(context, flags) {
    const output = openOutput(context, flags);
    return await withInbox(context, flags, async (inbox) => {
      for (const letter of await inbox.deadLetters({ limit: maxLetters })) {
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
  brief: 'Show a delivery, and a dead letter with its body',
  about:
    'Shows how often a delivery was tried, why it failed last, when it is due or until when a process has it, and what to do. A dead letter is shown with its body, which holds personal data.',
  examples: [
    'partner-exchange inbox show 3f9a2c --inbox inbox.sqlite',
    'partner-exchange inbox show 3f9a2c --inbox env:DATABASE_URL --format json',
  ],
  json: '{ digest, state, name?, attempts?, receivedAt?, dueAt?, reason?, next }, and of a dead letter body',
  flags,
  args: [digestArg],
  async run(context, flags, digest) {
    const output = openOutput(context, flags);
    return await withInbox(context, flags, async (inbox) => {
      const delivery = await findDelivery(inbox, digest);
      const letter = delivery.state === 'dead' ? await inbox.deadLetter(delivery.digest) : undefined;
      const next = adviceOf(delivery);
      output.result({ ...delivery, ...letter, next }, () => [
        ...deliveryLines(delivery),
        `next:     ${next}`,
        ...(letter?.body === undefined ? [] : [printableText(letter.body)]),
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
  json: 'A line for each: { digest, name, done }',
  flags: replayFlags,
  args: manyArgs(digestArg),
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
    'Drops dead letters for ever, after a question. The inbox still recognizes an event that the service repeats. --attack drops the events of orders that "partner-exchange attack" made, those that wait for another attempt too, without a question.',
  examples: [
    'partner-exchange inbox discard 3f9a2c --inbox inbox.sqlite --yes',
    'partner-exchange inbox discard --attack --inbox env:DATABASE_URL',
  ],
  json: 'A line for each: { digest, name, done }',
  flags: {
    ...replayFlags,
    attack: toggle('What an attack left: all events of its orders'),
    ...confirmFlags,
  },
  args: manyArgs(digestArg),
  async run(context, flags, ...digests) {
    const output = openOutput(context, flags);
    if (flags.attack) {
      if (flags.all || digests.length > 0) throw new CliError('--attack names the events: give no digests.');
      return await withInbox(context, flags, async (_inbox, records) => {
        let [dropped, held] = [0, 0];
        for await (const removed of discardProbes(records)) {
          if (removed.done) dropped++;
          else held++;
          printResult(output, removed);
        }
        const left = held === 0 ? '' : ` ${held} are being handled: repeat this when that is over.`;
        output.status(`${dropped} dropped.${left}`);
        return exitCodes.ok;
      });
    }
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

/** Works with an existing inbox, and handles none of its events. */
function withInbox<Result>(
  context: CliContext,
  { inbox: at, prefix = inboxPrefix, schema, table }: FlagsOf<typeof flags>,
  work: (inbox: StoreInbox, records: ProbeRecords) => Promise<Result>,
): Promise<Result> {
  const address = parseStoreAddress(context, at);
  return withStore(context, { address, mustExist: true, schema, table }, async (store) => {
    await requireRecords(store, prefix, 'No delivery was ever received here');
    const inbox = storeInbox({ store, prefix, role: 'receiver', now: context.now });
    try {
      return await work(inbox, { store, prefix });
    } finally {
      await inbox.stop();
    }
  });
}

function checkChoice({ all }: ReplayFlags, digests: readonly string[]): void {
  if (all === (digests.length === 0)) return;
  throw new CliError('Name digests, as "inbox list" prints them, or give --all.');
}

/** The dead letters that are named; all are found before any is touched. */
async function selectLetters(
  inbox: StoreInbox,
  { all }: ReplayFlags,
  digests: readonly string[],
): Promise<readonly DeadLetter[]> {
  if (all) return await inbox.deadLetters({ limit: maxLetters });
  const letters: DeadLetter[] = [];
  for (const beginning of digests) {
    const { digest } = await findDelivery(inbox, beginning);
    const letter = await inbox.deadLetter(digest);
    if (letter === undefined) {
      const message = `The delivery ${beginning} is no dead letter: see "inbox show ${beginning}".`;
      throw new CliError(message, { exitCode: exitCodes.findings });
    }
    letters.push(letter);
  }
  return letters;
}

async function findDelivery(inbox: StoreInbox, beginning: string): Promise<DeliveryStatus> {
  const [delivery, ...others] = await inbox.find(beginning, 2);
  if (others.length > 0)
    throw new CliError(`Several deliveries begin with ${beginning}: give more of the digest.`);
  if (delivery !== undefined) return delivery;
  const message = `There is no delivery ${beginning}: it never came, or was handled longer than rememberMs ago.`;
  throw new CliError(message, { exitCode: exitCodes.findings });
}

async function applyToEach(
  output: Output,
  letters: readonly DeadLetter[],
  act: (digest: string) => Promise<boolean>,
): Promise<number> {
  let done = 0;
  for (const { digest, name } of letters) {
    const isDone = await act(digest);
    if (isDone) done++;
    printResult(output, { digest, name, done: isDone });
  }
  return done;
}

function printResult(output: Output, result: Pick<DeadLetter, 'digest' | 'name'> & { done: boolean }): void {
  const { digest, name, done } = result;
  const what = done ? 'done' : 'gone: another process was faster';
  output.item(result, () => `${digest.slice(0, 12)} ${printableText(name)} ${what}`);
}
