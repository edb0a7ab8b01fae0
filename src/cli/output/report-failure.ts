import type { CliContext } from '../context/cli-context.ts';
import type { Failure } from './describe-failure.ts';
import { paintFor } from './paint.ts';

/** Tells of a failure on stderr: in a line of text, or of JSON where results are JSON. */
export function reportFailure(
  context: Pick<CliContext, 'stderr' | 'env'>,
  failure: Failure,
  inputs: readonly string[],
): void {
  const { message, ...facts } = failure;
  if (wantsJson(inputs)) {
    context.stderr.write(`${JSON.stringify({ error: { message, ...facts } })}\n`);
    return;
  }
  const ids = failure.assumptions?.length ? ` (assumptions: ${failure.assumptions.join(', ')})` : '';
  context.stderr.write(`${paintFor(context, context.stderr)('red', 'error:')} ${message}${ids}\n`);
}

function wantsJson(inputs: readonly string[]): boolean {
  return inputs.some(
    (input, index) => input === '--format=json' || (input === '--format' && inputs[index + 1] === 'json'),
  );
}
