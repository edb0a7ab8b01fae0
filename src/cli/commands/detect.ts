import type { SigningPurpose } from '../../credentials/signing-key.ts';
import { detectScheme } from '../../diagnostics/detection/detect-scheme.ts';
import { exitCodes } from '../context/exit-code.ts';
import { readDeliveries } from '../deliveries/read-deliveries.ts';
import { readDetectionSecrets } from '../input/detection-secrets.ts';
import { describeDetection } from '../output/describe-detection.ts';
import { openOutput } from '../output/output.ts';
import type { CommonFlags, FormatFlags, KeysFlags } from '../routes/common-flags.ts';
import type { RunCommand } from '../routes/define-command.ts';

export interface DetectFlags extends CommonFlags, FormatFlags, KeysFlags {
  readonly purpose: SigningPurpose;
}

/** Searches for the scheme that signed some bodies. */
export const detect: RunCommand<DetectFlags, string[]> = async (context, flags, ...paths) => {
  const output = openOutput(context, flags);
  const secrets = await readDetectionSecrets(context, flags);
  const deliveries = await readDeliveries(context, paths);
  const sources = deliveries.map(({ source }) => source);
  const bodies = deliveries.map(({ body }) => body);
  const detection = detectScheme(bodies, secrets, { purpose: flags.purpose });
  output.result({ ...detection, sources }, (paint) => describeDetection(detection, { sources, paint }));
  return detection.verdict === 'found' ? exitCodes.ok : exitCodes.findings;
};
