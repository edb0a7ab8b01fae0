import { printableText } from '../../../internal/printable-text.ts';
import { detectScheme } from '../../diagnostics/detection/detect-scheme.ts';
import type { SchemeDetection } from '../../diagnostics/detection/detection.ts';
import { readDeliveries } from '../deliveries/saved-deliveries.ts';
import { readDetectionSecrets } from '../inputs/configuration.ts';
import { defineCommand } from '../terminal/command.ts';
import { exitCodes } from '../terminal/context.ts';
import { describeDetection } from '../terminal/describe-detection.ts';
import { formatFlags, keysFlag, purposeFlag, samples } from '../terminal/flags.ts';
import { openOutput } from '../terminal/output.ts';

const flags = { purpose: purposeFlag, keys: keysFlag, ...formatFlags };

export default defineCommand({
  brief: 'Find out how bodies were signed',
  about:
    'Tries every known way to sign, offline, and prints those that fit all samples. Exits with 0 if exactly one does.',
  examples: ['partner-exchange detect event.json', 'partner-exchange detect --keys keys.json ./events'],
  json: 'What detectScheme returns, and sources, the names of the samples',
  flags,
  args: samples,
  async run(context, flags, ...paths) {
    const output = openOutput(context, flags);
    const secrets = await readDetectionSecrets(context, flags);
    const deliveries = await readDeliveries(context, paths);
    const sources = deliveries.map(({ source }) => source);
    const bodies = deliveries.map(({ body }) => body);
    const detection = detectScheme(bodies, secrets, { purpose: flags.purpose });
    output.result({ ...detection, sources }, (paint) => [
      ...describeDetection(detection, { sources, paint }),
      ...adviceOnStrays(detection, sources),
    ]);
    return detection.verdict === 'found' ? exitCodes.ok : exitCodes.findings;
  },
});

/**
 * Anybody can post to `listen`. The names of its files say only what verified under the scheme that was set then, so
 * the search decides.
 */
function adviceOnStrays({ verdict, samples }: SchemeDetection, sources: readonly string[]): string[] {
  const strays = sources.filter((_, index) => samples[index]?.fits.length === 0);
  if (verdict === 'none' || verdict === 'unusable' || strays.length === 0) return [];
  const names = strays.slice(0, maxNamed).map(printableText).join(', ');
  const more = strays.length > maxNamed ? ` and ${strays.length - maxNamed} more` : '';
  return [
    `No scheme fits ${names}${more}: forgeries, or signed with keys that are missing here. Next: run partner-exchange pin with the same files, which leaves out those that none of your keys signed.`,
  ];
}

const maxNamed = 3;
