import { isLoopback } from '../../deployment/base-url.ts';
import { attackReceiver } from '../../diagnostics/attack/attack-receiver.ts';
import type { AttackResult, AttackVerdict } from '../../diagnostics/attack/attack-result.ts';
import { CliError } from '../context/cli-error.ts';
import { exitCodes } from '../context/exit-code.ts';
import { currentCredentials, readConfiguration } from '../input/read-keys.ts';
import { count } from '../output/count.ts';
import { inCommands } from '../output/in-commands.ts';
import { openOutput } from '../output/output.ts';
import type { Paint, Style } from '../output/paint.ts';
import { startProgress } from '../output/progress.ts';
import type { CommonFlags, FormatFlags, SigningFlags } from '../routes/common-flags.ts';
import type { RunCommand } from '../routes/define-command.ts';

export interface AttackFlags extends CommonFlags, FormatFlags, SigningFlags {
  readonly iOwnThisHost?: string | undefined;
  readonly only?: readonly string[] | undefined;
  readonly skip?: readonly string[] | undefined;
  readonly timeoutMs: number;
}

const styles: Readonly<Record<AttackVerdict, Style>> = {
  ok: 'green',
  weak: 'yellow',
  broken: 'red',
  skipped: 'dim',
};

/** Attacks a receiver, and prints how it did. */
export const attack: RunCommand<AttackFlags, [url: URL]> = async (context, flags, url) => {
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
    const { results } = await attackReceiver(url, {
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
    output.say(`${count(results, 'verdict')}.`);
    const isSound = results.every(({ verdict }) => verdict === 'ok' || verdict === 'skipped');
    // Where nothing could be judged, nothing is known to be sound.
    return isSound && results.some(({ verdict }) => verdict === 'ok') ? exitCodes.ok : exitCodes.findings;
  } finally {
    progress.stop();
  }
};

function describe({ id, what, expected, answered, verdict, advice }: AttackResult, paint: Paint): string[] {
  const head = `${paint(styles[verdict], verdict.padEnd(7))} ${paint('bold', id)}: ${inCommands(answered)}`;
  if (verdict === 'ok' || verdict === 'skipped') return [head];
  return [
    head,
    `        sent: ${what}`,
    `        expected: ${expected}`,
    ...(advice === undefined ? [] : [`        ${inCommands(advice)}`]),
  ];
}
