import type { AssumptionId } from '../../../deployment/assumptions.ts';
import { type CheckResult, skipped } from '../check-result.ts';
import type { DoctorContext } from './doctor-context.ts';

/** A check that throws is a `fail`. */
export interface Check {
  readonly id: string;
  run(context: DoctorContext): CheckResult | Promise<CheckResult>;
}

export function ok(answered: string): CheckResult {
  return { verdict: 'ok', answered };
}

export function warning(answered: string, advice: string, ...assumptions: AssumptionId[]): CheckResult {
  return { verdict: 'weak', answered, advice, assumptions };
}

export function fail(answered: string, advice: string, ...assumptions: AssumptionId[]): CheckResult {
  return { verdict: 'broken', answered, advice, assumptions };
}

/** The result of a network failure, which may only mean that this machine is offline. */
export function unreachable({ strict }: DoctorContext, found: string, fix: string): CheckResult {
  return strict ? fail(found, fix) : skipped(found, fix);
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
