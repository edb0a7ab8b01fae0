/** One measured figure and what it may be at most. */
export interface Finding {
  readonly what: string;
  readonly measured: number;
  /** Absent for a figure that is only shown. */
  readonly budget?: number | undefined;
  /** @default 'x': times the thing compared with */
  readonly unit?: 'x' | 'ms' | 'µs' | 'B';
}

export function isOver({ measured, budget }: Finding): boolean {
  // A figure that could not be taken (NaN) is not within its budget.
  return budget !== undefined && !(measured <= budget);
}

export function printFindings(title: string, findings: readonly Finding[]): void {
  console.log(`\n${title}`);
  for (const finding of findings) {
    const { what, measured, budget, unit = 'x' } = finding;
    const limit = budget === undefined ? '' : `<= ${format(budget, unit)}`;
    const verdict = budget === undefined ? '' : isOver(finding) ? 'OVER' : 'ok';
    const columns = [
      `  ${what.padEnd(64)}`,
      format(measured, unit).padStart(10),
      limit.padStart(13),
      verdict,
    ];
    console.log(columns.join('  ').trimEnd());
  }
}

function format(value: number, unit: NonNullable<Finding['unit']>): string {
  return unit === 'B' ? `${value} B` : `${value.toFixed(2)} ${unit}`;
}
