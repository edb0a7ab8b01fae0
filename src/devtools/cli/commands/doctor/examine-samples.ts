import { isConfigurationError } from '../../../../errors/errors.ts';
import { learn } from '../../../diagnostics/learn/learn-from-samples.ts';
import { samplesIn } from '../../deliveries/captured-samples.ts';
import type { CliContext } from '../../terminal/context.ts';
import type { Output } from '../../terminal/output.ts';
import { broken, ok, type Result, type Surroundings, skippedCheck, weak } from './surroundings.ts';

/** Whether captured events are signed and formed as the deployment says, as `learn` judges them. */
export async function examineSamples(
  context: CliContext,
  output: Output,
  {
    paths = [],
    surroundings: { environment },
  }: { paths?: readonly string[] | undefined; surroundings: Surroundings },
): Promise<Result[]> {
  if (paths.length === 0) return [skippedCheck('Name captured events with --samples.')];
  if (isConfigurationError(environment)) return [skippedCheck('The environment cannot be read.')];
  const { deployment, credentials } = environment;
  if (credentials === undefined) return [skippedCheck('There are no keys to verify the samples with.')];
  const samples = await samplesIn(context, output, paths);
  const { rows, findings, deliveries } = await learn({ ...samples, credentials, deployment });
  const { genuine, others } = deliveries;
  const refuted = rows.filter(({ verdict }) => verdict === 'refuted');
  return [
    ...(genuine === 0
      ? [broken(`None of ${others} samples is signed with these keys.`, 'Give the keys that signed them.')]
      : []),
    ...refuted.map(({ id, found, set, override }) => {
      const what = `The samples refute ${id}: ${found.join('; ')}.`;
      return set === undefined
        ? weak(what, `Decide: ${override}.`)
        : broken(what, 'Run partner-exchange learn --write with them.');
    }),
    ...findings.map(({ verdict, what, advice = '' }) => ({ verdict, what, advice })),
    ...(genuine > 0 && refuted.length === 0
      ? [ok(`${genuine} of ${genuine + others} samples are signed and formed as the deployment says.`)]
      : []),
  ];
}
