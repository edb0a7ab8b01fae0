import type { FaultDetails, PlannedFault, SandboxFaults } from '../../src/devtools/sandbox/index.ts';

/** How often each of several faults happens: its probability, alone or with the details of the fault. */
export type FaultRates = {
  readonly [Name in FaultName]?:
    | number
    | ({ readonly rate: number; readonly when?: 'before' | 'after' | 'either' | undefined } & FaultDetails)
    | undefined;
};

type FaultName = Extract<PlannedFault['fault'], string>;

/** The rows of faults that happen at one target. */
export function faultsAt(target: PlannedFault['target'], rates: FaultRates): PlannedFault[] {
  return Object.entries(rates).flatMap(([kind, often]) => {
    const { rate, ...details } = typeof often === 'object' ? often : { rate: often };
    // Sound: the keys are names of faults. The sandbox refuses those of another side.
    return { target, fault: { kind, ...details }, rate } as PlannedFault;
  });
}

export function planFaults(faults: SandboxFaults, rows: readonly PlannedFault[]): void {
  // Sound: a row has a target and a fault of one side.
  for (const { target, fault, rate } of rows) faults.plan(target as 'event', fault as 'drop', { rate });
}
