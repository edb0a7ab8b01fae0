import { printableText } from '../../../internal/printable-text.ts';
import type { SchemeDetection } from '../../diagnostics/detection/detection.ts';
import { withCommand } from './error-commands.ts';
import type { Paint } from './terminal-text.ts';

export function describeDetection(
  detection: SchemeDetection,
  { sources, paint }: { sources: readonly string[]; paint: Paint },
): string[] {
  const { verdict, message, survivors, nearMisses, samples } = detection;
  const nameOf = (index: number) => printableText(sources[index] ?? `sample ${index}`);
  return [
    `${paint(verdict === 'found' ? 'green' : 'yellow', verdict)}: ${withCommand(message, verdict)}`,
    ...survivors.flatMap(({ scheme, notes }) => [
      `  ${JSON.stringify(scheme)}`,
      ...notes.map((note) => `    ${paint('yellow', note.code)}: ${note.message}`),
    ]),
    ...nearMisses.flatMap((miss) => [
      `near miss (${miss.code}): ${miss.message}`,
      `  ${miss.code === 'forged' ? '' : `${JSON.stringify(miss.scheme)}, `}for ${miss.samples.map(nameOf).join(', ')}`,
    ]),
    ...samples.flatMap((sample, index) =>
      sample.status === 'usable' ? [] : [`${nameOf(index)}: ${sample.status}: ${sample.message}`],
    ),
  ];
}
