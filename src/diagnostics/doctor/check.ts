import type { AssumptionId } from '../../deployment/assumptions.ts';
import type { DoctorCheck, DoctorContext } from './doctor-context.ts';

export interface CheckResult extends Pick<DoctorCheck, 'status' | 'found' | 'fix'> {
  readonly assumptions?: readonly AssumptionId[] | undefined;
}

/** A check that throws is a `fail`. */
export interface Check {
  readonly id: string;
  run(context: DoctorContext): CheckResult | Promise<CheckResult>;
}

export function ok(found: string): CheckResult {
  return { status: 'ok', found };
}

export function warning(found: string, fix: string, ...assumptions: AssumptionId[]): CheckResult {
  return { status: 'warn', found, fix, assumptions };
}

export function fail(found: string, fix: string, ...assumptions: AssumptionId[]): CheckResult {
  return { status: 'fail', found, fix, assumptions };
}

export function skip(found: string, fix?: string): CheckResult {
  return { status: 'skip', found, fix };
}

/** The result of a network failure, which may only mean that this machine is offline. */
export function unreachable({ strict }: DoctorContext, found: string, fix: string): CheckResult {
  return { status: strict ? 'fail' : 'skip', found, fix };
}

/** Codes of Node and of Bun for a port at which nothing listens: the machine is reached, so this one is online. */
const refusals: readonly string[] = ['ECONNREFUSED', 'ConnectionRefused'];

/** The result of a connection that was not made or broke off, with the system's code for it. */
export function notConnected(
  context: DoctorContext,
  { reason, found, fix }: { readonly reason: string; readonly found: string; readonly fix: string },
): CheckResult {
  return refusals.includes(reason) ? fail(found, fix) : unreachable(context, found, fix);
}

/** The worst of several results, with all findings of that status. */
export function worstStatus(all: readonly CheckResult[]): CheckResult {
  for (const status of ['fail', 'warn', 'skip', 'ok'] as const) {
    const these = all.filter((one) => one.status === status);
    const [first] = these;
    if (first !== undefined) return { ...first, found: these.map(({ found }) => found).join('; ') };
  }
  return skip('There is nothing to check.');
}
