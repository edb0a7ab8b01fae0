import { globSync, readdirSync, readFileSync } from 'node:fs';
import type { Partner } from './partner.ts';
import type { Engine } from './plan.ts';

/** What the process that stays used at one moment. */
export interface Sample {
  readonly engine: Engine;
  /** Since the traffic began. */
  readonly minutes: number;
  /** Megabytes in use after a garbage collection. */
  readonly heap: number;
  /** Megabytes, as the system counts. */
  readonly resident: number;
  readonly descriptors: number;
  /** In the folder of SQLite; none for the other stores. */
  readonly files: number;
}

export async function takeSample(partner: Partner, folder: string, minutes: number): Promise<Sample> {
  const { engine, pid } = partner;
  const { heap } = await partner.sample();
  const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return {
    engine,
    minutes,
    heap: heap / 1e6,
    resident: (Number(kilobytes) * 1024) / 1e6,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    files: engine === 'sqlite' ? globSync('**', { cwd: folder }).length : 0,
  };
}

/** By member: how much more than before is flat. Caches and pools fill in the first third of a run. */
const allowed = {
  heap: (before: number) => before * 1.15 + 2,
  resident: (before: number) => before * 1.2 + 10,
  descriptors: (before: number) => before + 3,
  files: (before: number) => before + 1,
} as const;
export type Measured = keyof typeof allowed;

export interface Growth {
  readonly engine: Engine;
  readonly of: Measured;
  /** The median of the second third of the run, and of the last one. */
  readonly before: number;
  readonly after: number;
  readonly isFlat: boolean;
}

/** Compares the second third of a run with the last one. */
export function findGrowth(samples: readonly Sample[]): Growth[] {
  const third = Math.max(...samples.map(({ minutes }) => minutes)) / 3;
  const names = [...new Set(samples.map(({ engine }) => engine))];
  return names.flatMap((engine) => {
    const own = samples.filter((sample) => sample.engine === engine);
    // Sound: the keys of the table.
    return (Object.keys(allowed) as Measured[]).map((of) => {
      const values = (from: number, to: number) =>
        own.filter(({ minutes }) => minutes >= from && minutes <= to).map((sample) => sample[of]);
      const before = medianOf(values(third, 2 * third));
      const after = medianOf(values(2 * third, 3 * third));
      return { engine, of, before, after, isFlat: after <= allowed[of](before) };
    });
  });
}

export function medianOf(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
