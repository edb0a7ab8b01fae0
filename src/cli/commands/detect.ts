import { detectScheme } from '../../diagnostics/detection/detect-scheme.ts';
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
      ...(detection.verdict !== 'found' && mixesUnsigned(sources) ? [leaveOutUnsigned] : []),
    ]);
    return detection.verdict === 'found' ? exitCodes.ok : exitCodes.findings;
  },
});

/** Anybody can post to `listen`, so one folder can hold genuine events and others. */
function mixesUnsigned(sources: readonly string[]): boolean {
  const unsigned = sources.filter((source) => source.endsWith('.unsigned.json')).length;
  return unsigned > 0 && unsigned < sources.length;
}

const leaveOutUnsigned =
  'Next: move the files that end in .unsigned.json out of the folder, and try again. They did not verify when they came, so they may be forgeries.';
