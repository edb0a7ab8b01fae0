import type { DoctorCheck } from '../../../../src/devtools/diagnostics/doctor/doctor-context.ts';
import {
  type DoctorContext,
  type DoctorOptions,
  makeContext,
  readDoctorOptions,
} from '../../../../src/devtools/diagnostics/doctor/doctor-context.ts';
import { doctorChecks, runCheck } from '../../../../src/devtools/diagnostics/doctor/run-doctor.ts';

/** Runs one check of the doctor. Nothing of the machine's environment and network is used unless it is given. */
export async function examined(
  id: string,
  options: DoctorOptions = {},
  own: Partial<DoctorContext> = {},
): Promise<DoctorCheck> {
  const examination = doctorChecks.find((each) => each.id === id);
  if (examination === undefined) throw new Error(`There is no check ${id}.`);
  const offline: DoctorOptions = {
    env: {},
    fetch: async () => {
      throw new TypeError('offline');
    },
    lookup: async () => {
      throw Object.assign(new Error('offline'), { code: 'ENOTFOUND' });
    },
  };
  const context = makeContext(readDoctorOptions({ ...offline, ...options }));
  return await runCheck(examination, { ...context, ...own });
}
