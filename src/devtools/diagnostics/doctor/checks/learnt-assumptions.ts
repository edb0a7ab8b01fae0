import { readTextFile } from '../../../../deployment/environment-variables.ts';
import { readDeploymentFile } from '../../../../deployment/learnt-deployment.ts';
import { isConfigurationError } from '../../../../errors/errors.ts';
import { skipped } from '../../check-result.ts';
import { type Check, ok, warning } from '../check.ts';

/** What the deployment file says of the ledger. */
export const learntAssumptions: Check = {
  id: 'learnt-assumptions',
  run({ env, environment }) {
    const path: unknown = Reflect.get(env, 'PARTNER_EXCHANGE_DEPLOYMENT');
    // The check of the environment reports a file that cannot be read.
    if (isConfigurationError(environment)) return skipped('The environment cannot be read.');
    if (typeof path !== 'string' || path === '')
      return skipped(
        'No deployment file says which assumptions hold.',
        'Write one from captured events: partner-exchange learn --write (docs/guides/learn.md).',
      );
    const { rows, overrides } = readDeploymentFile(JSON.parse(readTextFile(path)), 'the file');
    const count = (verdict: string) => rows.filter((row) => row.verdict === verdict).length;
    const found = `${count('proven')} rows proven, ${count('refuted')} refuted, ${count('not-seen')} not seen.`;
    const settled = new Set(overrides.map(({ row }) => row));
    const open = rows.filter(({ id, verdict }) => verdict === 'refuted' && !settled.has(id));
    if (open.length === 0) return ok(found);
    const names = open.map(({ id }) => id).join(', ');
    return warning(
      found,
      `Decide about ${names}, which no data can set: docs/assumptions.md has the override of each.`,
    );
  },
};
