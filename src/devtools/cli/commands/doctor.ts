import { resolve } from 'node:path';
import type { DoctorCheck, DoctorStatus } from '../../diagnostics/doctor/doctor-context.ts';
import { runDoctor } from '../../diagnostics/doctor/run-doctor.ts';
import { readDeliveries } from '../deliveries/saved-deliveries.ts';
import { readNamedKeys, withScheme } from '../inputs/configuration.ts';
import { defineCommand } from '../terminal/command.ts';
import { exitCodes } from '../terminal/context.ts';
import { formatFlags, signingFlags, textFlag, toggle, webAddress, wholeNumber } from '../terminal/flags.ts';
import { countBy, openOutput } from '../terminal/output.ts';
import type { Style } from '../terminal/terminal-text.ts';

const styles: Readonly<Record<DoctorStatus, Style>> = {
  ok: 'green',
  warn: 'yellow',
  fail: 'red',
  skip: 'dim',
};

const flags = {
  callback: webAddress.optional('url', 'Your receiver: gets four requests that it must refuse'),
  sendAuthentic: toggle('Also send it one authentic event, about an order that does not exist'),
  inbox: textFlag.list('file', 'A file of a SQLite inbox'),
  store: textFlag.list('file', 'A file of a SQLite store'),
  samples: textFlag.list('file', 'Recent signed bodies, which must fit the pin'),
  strict: toggle('Fail if an address cannot be reached'),
  timeoutMs: wholeNumber(1, 600_000).withDefault('ms', 'How long to wait for each answer', '5000'),
  ...signingFlags,
  ...formatFlags,
};

export default defineCommand({
  brief: 'Check the set-up of an integration',
  about:
    'Checks the runtime, the environment, the keys, the addresses, the clock, the pinned scheme, the callback, the versions of optional peers, and the files of inboxes and stores. It changes nothing. Exits with 1 if a check fails. Addresses that cannot be reached are skipped, unless --strict is given.',
  examples: [
    'partner-exchange doctor',
    'partner-exchange doctor --callback https://partner.example/orders --strict',
    'partner-exchange doctor --inbox events.db --format json',
  ],
  json: "{ checks: [{ id, status: 'ok' | 'warn' | 'fail' | 'skip', found, fix?, assumptions }] }",
  flags,
  async run(context, flags) {
    const output = openOutput(context, flags);
    const path = (file: string) => resolve(context.cwd, file);
    const samples = flags.samples === undefined ? [] : await readDeliveries(context, flags.samples);
    const { callback: callbackUrl, sendAuthentic, strict, timeoutMs } = flags;
    const { checks } = await runDoctor({
      // A malformed variable is a finding, not an error: the doctor reads them itself.
      env: withScheme(context, flags.scheme),
      credentials: await readNamedKeys(context, flags),
      callbackUrl,
      sendAuthentic,
      strict,
      timeoutMs,
      samples: samples.map(({ body }) => body),
      inboxFiles: flags.inbox?.map(path),
      storeFiles: flags.store?.map(path),
      projectFolder: context.cwd,
      fetch: context.fetch,
      now: context.now,
      signal: context.signal,
    });
    output.result({ checks }, (paint) =>
      checks.flatMap(({ id, status, found, fix, assumptions }: DoctorCheck) => [
        `${paint(styles[status], status.padEnd(4))} ${paint('bold', id)}: ${found}`,
        ...(fix === undefined ? [] : [`     ${fix}`]),
        ...(assumptions.length === 0 || status === 'ok'
          ? []
          : [paint('dim', `     assumptions: ${assumptions.join(', ')}`)]),
      ]),
    );
    output.status(`${countBy(checks, 'status')}.`);
    return checks.some(({ status }) => status === 'fail') ? exitCodes.findings : exitCodes.ok;
  },
});
