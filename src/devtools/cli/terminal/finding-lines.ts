import { printableText } from '../../../internal/printable-text.ts';
import type { Finding, Verdict } from '../../diagnostics/finding.ts';
import type { Paint, Style } from './terminal-text.ts';

const styles: Readonly<Record<Verdict, Style>> = {
  broken: 'red',
  weak: 'yellow',
  ok: 'green',
  skipped: 'dim',
};

/** What a tool found, the worst first. Findings that were skipped for one reason are one line. */
export function findingLines(findings: readonly Finding[], paint: Paint): string[] {
  const judged = (['broken', 'weak', 'ok'] as const).flatMap((worst) =>
    findings.filter(({ verdict }) => verdict === worst),
  );
  const skipped = Map.groupBy(
    findings.filter(({ verdict }) => verdict === 'skipped'),
    ({ what }) => what,
  );
  return [
    ...judged.flatMap(({ id, verdict, what, advice }) => [
      headLine(verdict, id, what, paint),
      ...(advice === undefined ? [] : [`${' '.repeat(8)}${printableText(advice)}`]),
    ]),
    ...[...skipped].map(([what, alike]) =>
      headLine('skipped', alike.map(({ id }) => id).join(', '), what, paint),
    ),
  ];
}

function headLine(verdict: Verdict, id: string, what: string, paint: Paint): string {
  return `${paint(styles[verdict], verdict.padEnd(7))} ${paint('bold', id)}: ${printableText(what)}`;
}
