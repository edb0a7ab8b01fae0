import type { Estimate } from './measure.ts';

/** One measured figure and what it may be. */
export interface Finding {
  readonly what: string;
  /** A number alone is one without noise: a size. */
  readonly measured: Estimate | number;
  /** A budget; without one the figure is only shown. */
  readonly atMost?: number | undefined;
  readonly atLeast?: number | undefined;
  /** @default 'x': times the thing compared with */
  readonly unit?: 'x' | '%' | 'ms' | 'µs' | '/s' | undefined;
}

export interface Section {
  readonly title: string;
  readonly findings: readonly Finding[];
}

/** Whether a budget is missed by more than the noise. A figure that could not be taken (NaN) misses it. */
function isMissed(finding: Finding): boolean {
  const { value, noise } = estimateOf(finding);
  const { atMost, atLeast } = finding;
  const isKept =
    (atMost === undefined || value - noise <= atMost) && (atLeast === undefined || value + noise >= atLeast);
  return !isKept;
}

/** Prints each finding with its budget, and fails the process if one is missed. */
export function report(sections: readonly Section[]): void {
  for (const { title, findings } of sections) {
    console.log(`\n${title}`);
    for (const finding of findings) console.log(lineOf(finding));
  }
  const missed = sections.flatMap(({ findings }) => findings).filter(isMissed);
  console.log(missed.length === 0 ? '\nEvery budget is kept.' : `\n${missed.length} budgets MISSED:`);
  for (const finding of missed) console.log(lineOf(finding));
  if (missed.length > 0) process.exitCode = 1;
}

function lineOf(finding: Finding): string {
  const { what, atMost, atLeast, unit = 'x' } = finding;
  const { value, noise } = estimateOf(finding);
  const budgets = [
    ...(atMost === undefined ? [] : [`<= ${format(atMost, unit)}`]),
    ...(atLeast === undefined ? [] : [`>= ${format(atLeast, unit)}`]),
  ];
  const columns = [
    `  ${what.padEnd(64)}`,
    format(value, unit).padStart(12),
    (noise > 0 ? `± ${format(noise, unit)}` : '').padEnd(12),
    budgets.join(', ').padStart(14),
    budgets.length === 0 ? '' : verdictOf(finding),
  ];
  return columns.join('  ').trimEnd();
}

function verdictOf(finding: Finding): string {
  if (isMissed(finding)) return 'MISSED';
  const { value } = estimateOf(finding);
  return isMissed({ ...finding, measured: value }) ? 'within noise' : 'ok';
}

function estimateOf({ measured }: Finding): Estimate {
  return typeof measured === 'number' ? { value: measured, noise: 0 } : measured;
}

function format(value: number, unit: NonNullable<Finding['unit']>): string {
  const digits = unit === '/s' || (unit === '%' && value >= 10) ? 0 : 2;
  return `${value.toFixed(digits)} ${unit}`;
}
