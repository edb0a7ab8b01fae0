import type { DeadLetter, ManagedInbox } from '../../inbox/managed-inbox.ts';
import { printableText } from '../../redaction/printable-text.ts';
import { CliError } from '../context/cli-error.ts';
import { exitCodes } from '../context/exit-code.ts';
import { askToGoOn, type ConfirmFlags } from '../input/confirm.ts';
import { type InboxPlaceFlags, withInbox } from '../input/open-inbox.ts';
import { type Output, openOutput } from '../output/output.ts';
import type { CommonFlags, FormatFlags } from '../routes/common-flags.ts';
import type { RunCommand } from '../routes/define-command.ts';

export interface InboxFlags extends CommonFlags, FormatFlags, InboxPlaceFlags {}

export interface InboxListFlags extends InboxFlags {
  readonly limit: number;
}

export interface InboxReplayFlags extends InboxFlags {
  readonly all: boolean;
}

export interface InboxDiscardFlags extends InboxReplayFlags, ConfirmFlags {}

/** More dead letters than anybody looks at one by one. */
const most = 100_000;
/** SHA-256 in hexadecimal digits. */
const digestLength = 64;

/** Lists the dead letters, without their bodies. */
export const inboxList: RunCommand<InboxListFlags> = async (context, flags) => {
  const output = openOutput(context, flags);
  return await withInbox(context, flags, async (inbox) => {
    for (const letter of await inbox.deadLetters({ limit: flags.limit })) {
      output.item(letter, (paint) => {
        const { digest, name, attempts, receivedAt, reason } = letter;
        const facts = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}, received ${receivedAt.toISOString()}`;
        return `${paint('bold', digest.slice(0, 12))} ${printableText(name)} (${facts}): ${printableText(reason)}`;
      });
    }
    const { open, dead } = await inbox.counts();
    output.say(`${dead} dead, ${open} open.`);
    return exitCodes.ok;
  });
};

/** Shows a dead letter with its body, which holds personal data. */
export const inboxShow: RunCommand<InboxFlags, [digest: string]> = async (context, flags, digest) => {
  const output = openOutput(context, flags);
  return await withInbox(context, flags, async (inbox) => {
    const [wanted] = await find(inbox, [digest]);
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
};

/** Has dead letters tried again. */
export const inboxReplay: RunCommand<InboxReplayFlags, string[]> = async (context, flags, ...digests) => {
  const output = openOutput(context, flags);
  checkChoice(flags, digests);
  return await withInbox(context, flags, async (inbox) => {
    const done = await each(output, await choose(inbox, flags, digests), (digest) => inbox.replay(digest));
    output.say(`${done} will be handled again as soon as a process that handles this inbox runs.`);
    return exitCodes.ok;
  });
};

/** Drops dead letters. */
export const inboxDiscard: RunCommand<InboxDiscardFlags, string[]> = async (context, flags, ...digests) => {
  const output = openOutput(context, flags);
  checkChoice(flags, digests);
  return await withInbox(context, flags, async (inbox) => {
    const letters = await choose(inbox, flags, digests);
    if (letters.length > 0) {
      const what = letters.length === 1 ? 'this event' : `these ${letters.length} events`;
      await askToGoOn(context, flags, `Drop ${what} for ever?`);
    }
    const done = await each(output, letters, (digest) => inbox.discard(digest));
    output.say(`${done} dropped. Their repetitions are still recognized.`);
    return exitCodes.ok;
  });
};

function checkChoice({ all }: InboxReplayFlags, digests: readonly string[]): void {
  if (all === (digests.length === 0)) return;
  throw new CliError('Name digests, as "inbox list" prints them, or give --all.');
}

async function choose(
  inbox: ManagedInbox,
  { all }: InboxReplayFlags,
  digests: readonly string[],
): Promise<readonly DeadLetter[]> {
  return all ? await inbox.deadLetters({ limit: most }) : await find(inbox, digests);
}

/** The dead letters whose digests begin with these; all are found before any is touched. */
async function find(inbox: ManagedInbox, digests: readonly string[]): Promise<readonly DeadLetter[]> {
  if (!digests.every((given) => /^[0-9a-f]{6,64}$/.test(given)))
    throw new CliError('A digest is 64 hexadecimal digits; at least the first six name it.');
  // Only the beginning of a digest needs the list.
  const isShort = digests.some((given) => given.length < digestLength);
  const letters = isShort ? await inbox.deadLetters({ limit: most }) : [];
  const found: DeadLetter[] = [];
  for (const given of digests) {
    if (given.length === digestLength) found.push((await inbox.deadLetter(given)) ?? refuse(given));
    else found.push(findByStart(letters, given));
  }
  return found;
}

function findByStart(letters: readonly DeadLetter[], start: string): DeadLetter {
  const [first, second] = letters.filter(({ digest }) => digest.startsWith(start));
  if (first === undefined) throw notFound(start);
  if (second === undefined) return first;
  throw new CliError(`Several dead letters begin with ${start}: give more of the digest.`);
}

function refuse(digest: string): never {
  throw notFound(digest);
}

function notFound(digest: string): CliError {
  const message = `There is no dead letter ${printableText(digest)}: see "inbox list".`;
  return new CliError(message, { exitCode: exitCodes.findings });
}

/** How many there still were. */
async function each(
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
