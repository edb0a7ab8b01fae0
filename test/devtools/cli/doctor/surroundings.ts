import {
  type DoctorOptions,
  readSurroundings,
  type Surroundings,
} from '../../../../src/devtools/cli/commands/doctor/surroundings.ts';

/** Nothing of the machine's environment and network is used unless it is given. */
export function surroundingsOf(options: Partial<DoctorOptions> = {}): Surroundings {
  return readSurroundings({
    env: {},
    timeoutMs: 5_000,
    now: Date.now,
    signal: new AbortController().signal,
    fetch: async () => {
      throw new TypeError('offline');
    },
    lookup: async () => {
      throw Object.assign(new Error('offline'), { code: 'ENOTFOUND' });
    },
    ...options,
  });
}
