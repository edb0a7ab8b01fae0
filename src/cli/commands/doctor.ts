import { resolve } from 'node:path';
import type { DoctorCheck, DoctorStatus } from '../../diagnostics/doctor/doctor-check.ts';
import { runDoctor } from '../../diagnostics/doctor/run-doctor.ts';
import { exitCodes } from '../context/exit-code.ts';
import { readDeliveries } from '../deliveries/read-deliveries.ts';
import { readNamedKeys, withScheme } from '../input/read-keys.ts';
import { count } from '../output/count.ts';
import { inCommands } from '../output/in-commands.ts';
import { openOutput } from '../output/output.ts';
import type { Style } from '../output/paint.ts';
import type { CommonFlags, FormatFlags, SigningFlags } from '../routes/common-flags.ts';
import type { RunCommand } from '../routes/define-command.ts';

export interface DoctorFlags extends CommonFlags, FormatFlags, SigningFlags {
  readonly callback?: URL | undefined;
  readonly sendAuthentic: boolean;
  readonly inbox?: readonly string[] | undefined;
  readonly store?: readonly string[] | undefined;
  readonly samples?: readonly string[] | undefined;
  readonly strict: boolean;
  readonly timeoutMs: number;
}

const styles: Readonly<Record<DoctorStatus, Style>> = {
  ok: 'green',
  warn: 'yellow',
  fail: 'red',
  skip: 'dim',
};

/** Checks an integration, and says what to do. */
export const doctor: RunCommand<DoctorFlags> = async (context, flags) => {
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
      `${paint(styles[status], status.padEnd(4))} ${paint('bold', id)}: ${inCommands(found)}`,
      ...(fix === undefined ? [] : [`     ${inCommands(fix)}`]),
      ...(assumptions.length === 0 || status === 'ok'
        ? []
        : [paint('dim', `     assumptions: ${assumptions.join(', ')}`)]),
    ]),
  );
  output.say(`${count(checks, 'status')}.`);
  return checks.some(({ status }) => status === 'fail') ? exitCodes.findings : exitCodes.ok;
};
