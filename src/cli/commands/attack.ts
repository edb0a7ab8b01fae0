import { isLoopback } from '../../deployment/base-url.ts';
import type { AttackResult, AttackVerdict } from '../../diagnostics/attack/attack-case.ts';
import { attackInWords } from '../../diagnostics/attack/attack-receiver.ts';
import { defineCommand } from '../command.ts';
import { commandWords } from '../command-words.ts';
import { currentCredentials, readConfiguration } from '../configuration.ts';
import { CliError, exitCodes } from '../context.ts';
import { formatFlags, parseWebAddress, signingFlags, text, wholeNumber } from '../flags.ts';
import { countBy, openOutput, startProgress } from '../output.ts';
import type { Paint, Style } from '../paint.ts';

const styles: Readonly<Record<AttackVerdict, Style>> = {
  ok: 'green',
  weak: 'yellow',
  broken: 'red',
  skipped: 'dim',
};

const flags = {
  iOwnThisHost: text.optional(
    'name',
    'The name of the host, which says that it is yours; not needed for this machine',
  ),
  only: text.list('id', 'Run this case alone, or some'),
  skip: text.list('id', 'Leave this case out'),
  timeoutMs: wholeNumber(1, 600_000).withDefault('ms', 'How long an answer may take', '10000'),
  ...signingFlags,
  ...formatFlags,
};

export default defineCommand({
  brief: 'Attack your receiver of events, as its worst callers would',
  about:
    'Sends forged, altered, malformed, huge, slow and repeated deliveries to a receiver in any language, with a verdict for each. Use test keys: the authentic ones among them are handled by your code, about orders whose ids begin with "probe-". Exits with 1 if the receiver is weak or broken.',
  examples: [
    'partner-exchange attack http://127.0.0.1:3000/orders',
    'partner-exchange attack http://127.0.0.1:3000/orders --format json',
    'partner-exchange attack https://test.partner.example/orders --i-own-this-host test.partner.example',
  ],
  flags,
  args: [{ placeholder: 'url', brief: 'Where your receiver listens', parse: parseWebAddress }],
  async run(context, flags, url) {
    const output = openOutput(context, flags);
    const { iOwnThisHost, timeoutMs, only, skip } = flags;
    if (iOwnThisHost === undefined && !isLoopback(url.hostname)) {
      throw new CliError(
        `${url.hostname} is not this machine: if it is yours, add --i-own-this-host ${url.hostname}.`,
      );
    }
    const configuration = await readConfiguration(context, flags);
    const progress = startProgress(context);
    let done = 0;
    try {
      const { results } = await attackInWords(commandWords, url, {
        credentials: currentCredentials(configuration),
        deployment: configuration.deployment,
        iOwnThisHost,
        timeoutMs,
        only: only?.length ? only : undefined,
        skip,
        signal: context.signal,
        onResult: ({ id }) => progress.update(`${++done} done, last ${id}`),
      });
      progress.stop();
      output.result({ results }, (paint) => results.flatMap((result) => describe(result, paint)));
      output.status(`${countBy(results, 'verdict')}.`);
      const isSound = results.every(({ verdict }) => verdict === 'ok' || verdict === 'skipped');
      // Where nothing could be judged, nothing is known to be sound.
      return isSound && results.some(({ verdict }) => verdict === 'ok') ? exitCodes.ok : exitCodes.findings;
    } finally {
      progress.stop();
    }
  },
});

function describe({ id, what, expected, answered, verdict, advice }: AttackResult, paint: Paint): string[] {
  const head = `${paint(styles[verdict], verdict.padEnd(7))} ${paint('bold', id)}: ${answered}`;
  if (verdict === 'ok' || verdict === 'skipped') return [head];
  return [
    head,
    `        sent: ${what}`,
    `        expected: ${expected}`,
    ...(advice === undefined ? [] : [`        ${advice}`]),
  ];
}
