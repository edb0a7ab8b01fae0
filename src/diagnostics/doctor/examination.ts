import type { AssumptionId } from '../../deployment/assumptions.ts';
import type { DoctorCheck } from './doctor-check.ts';
import type { DoctorContext } from './doctor-context.ts';

/** What a check found out. */
export interface Found extends Pick<DoctorCheck, 'status' | 'found' | 'fix'> {
  readonly assumptions?: readonly AssumptionId[] | undefined;
}

/** One check. It may throw: that becomes a `fail` of its own. */
export interface Examination {
  readonly id: string;
  run(context: DoctorContext): Found | Promise<Found>;
}

export function ok(found: string): Found {
  return { status: 'ok', found };
}

export function warn(found: string, fix: string, ...assumptions: AssumptionId[]): Found {
  return { status: 'warn', found, fix, assumptions };
}

export function fail(found: string, fix: string, ...assumptions: AssumptionId[]): Found {
  return { status: 'fail', found, fix, assumptions };
}

export function skip(found: string, fix?: string): Found {
  return { status: 'skip', found, fix };
}

/** What a network failure is: this machine may just be offline. */
export function unreachable({ strict }: DoctorContext, found: string, fix: string): Found {
  return { status: strict ? 'fail' : 'skip', found, fix };
}

/** The gravest of several, with everything that is of its kind. */
export function gravest(all: readonly Found[]): Found {
  for (const status of ['fail', 'warn', 'skip', 'ok'] as const) {
    const these = all.filter((one) => one.status === status);
    const [first] = these;
    if (first !== undefined) return { ...first, found: these.map(({ found }) => found).join('; ') };
  }
  return skip('There is nothing to check.');
}
