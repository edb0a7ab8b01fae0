import { readTextFile } from '../../../../deployment/environment-variables.ts';
import { readDeploymentFile } from '../../../../deployment/learnt-deployment.ts';
import { codeOf, isConfigurationError } from '../../../../errors/errors.ts';
import { learn } from '../../../diagnostics/learn/learn-from-samples.ts';
import type { NamedDelivery } from '../../deliveries/saved-deliveries.ts';
import { openStore, parseStoreAddress } from '../../inputs/open-store.ts';
import { type CliContext, CliError } from '../../terminal/context.ts';
import { describeFailure } from '../../terminal/failure-line.ts';
import { broken, ok, type Result, type Surroundings, skippedCheck, weak } from './surroundings.ts';

/** Whether each store is there and can be read. Makes none. */
export async function examineStores(
  context: CliContext,
  addresses: readonly string[] | undefined,
): Promise<Result[]> {
  if (addresses === undefined) return [skippedCheck('Name them with --store.')];
  return await Promise.all(addresses.map((given) => examineStore(context, given)));
}

async function examineStore(context: CliContext, given: string): Promise<Result> {
  let shown = 'The store';
  try {
    const address = parseStoreAddress(context, given);
    ({ shown } = address);
    const { store, close } = await openStore(context, { address, mustExist: true });
    try {
      const [first] = await store.list({ prefix: '', limit: 1 });
      return ok(`${shown} can be read, and ${first === undefined ? 'is empty' : 'holds records'}.`);
    } finally {
      await close();
    }
  } catch (error) {
    if (error instanceof CliError) return broken(error.message, 'Name the store that your programs use.');
    // The driver names a host that refuses, or a missing table: neither holds a password.
    const code = systemCodeOf(error);
    return broken(
      `${shown} cannot be read: ${code || describeFailure(error).message}.`,
      'Is the address right, and is the server up?',
    );
  }
}

/** The code of the system, also that of a cause: `localhost` fails once for each of its addresses. */
function systemCodeOf(error: unknown): string {
  const causes = error instanceof AggregateError ? error.errors : [];
  const cause = error instanceof Error ? error.cause : undefined;
  return (
    [error, ...causes].map(codeOf).find((code) => /^E[A-Z_]+$/.test(code)) ||
    (cause ? systemCodeOf(cause) : '')
  );
}

/** Whether captured events are signed and formed as the deployment says. */
export async function examineSamples(
  samples: readonly NamedDelivery[] | undefined,
  surroundings: Surroundings,
): Promise<Result[]> {
  const { deployment, credentials } = surroundings;
  if (deployment === undefined) return [skippedCheck('The environment cannot be read.')];
  if (samples === undefined) return [withoutSamples(surroundings)];
  if (credentials === undefined) return [skippedCheck('There are no keys to verify the samples with.')];
  const { rows, findings, deliveries } = await learn({ deliveries: samples, credentials, deployment });
  const { genuine, others } = deliveries;
  const refuted = rows.filter(({ verdict }) => verdict === 'refuted');
  return [
    ...(genuine === 0
      ? [broken(`None of ${others} samples is signed with these keys.`, 'Give the keys that signed them.')]
      : []),
    ...refuted.map(({ id, found, set, person }) => {
      const what = `The samples refute ${id}: ${found.join('; ')}.`;
      return set === undefined
        ? weak(what, `Decide: ${person}.`)
        : broken(what, 'Run partner-exchange learn --write with them.');
    }),
    ...findings.map(({ verdict, what, advice = '' }) => ({ verdict, what, advice })),
    ...(genuine > 0 && refuted.length === 0
      ? [ok(`${genuine} of ${genuine + others} samples are signed and formed as the deployment says.`)]
      : []),
  ];
}

function withoutSamples(surroundings: Surroundings): Result {
  const file = deploymentFile(surroundings);
  const isProven = file?.rows.some(
    ({ id, verdict }) => id === 'signature-construction' && verdict !== 'not-seen',
  );
  if (isProven) return skippedCheck('Name captured events with --samples.');
  return weak(
    'Nothing proves the signature scheme: it is a guess until an event that the service signed fits it.',
    'Capture one, and run partner-exchange learn --write (docs/guides/learn.md).',
  );
}

/** What the deployment file says of the ledger. */
export function examineDeploymentFile(surroundings: Surroundings): Result[] {
  // The check of the environment reports a file that cannot be read.
  if (isConfigurationError(surroundings.environment))
    return [skippedCheck('The environment cannot be read.')];
  const file = deploymentFile(surroundings);
  if (file === undefined)
    return [
      skippedCheck('No deployment file says which assumptions hold: write one with partner-exchange learn.'),
    ];
  const { rows, overrides } = file;
  const count = (verdict: string) => rows.filter((row) => row.verdict === verdict).length;
  const what = `${count('proven')} rows proven, ${count('refuted')} refuted, ${count('not-seen')} not seen.`;
  const settled = new Set(overrides.map(({ row }) => row));
  const open = rows.filter(({ id, verdict }) => verdict === 'refuted' && !settled.has(id));
  if (open.length === 0) return [ok(what)];
  const names = open.map(({ id }) => id).join(', ');
  return [
    weak(what, `Decide about ${names}, which no data can set: docs/assumptions.md has the override of each.`),
  ];
}

function deploymentFile({ env, environment }: Surroundings) {
  const path = env.PARTNER_EXCHANGE_DEPLOYMENT;
  if (isConfigurationError(environment) || !path) return undefined;
  return readDeploymentFile(JSON.parse(readTextFile(path)), 'the file');
}
