import type { SigningPurpose } from '../../credentials/signing-key.ts';
import { explainMismatch } from '../../diagnostics/mismatch/explain-mismatch.ts';
import { exitCodes } from '../context/exit-code.ts';
import { readDelivery } from '../deliveries/delivery-file.ts';
import { readDetectionSecrets } from '../input/detection-secrets.ts';
import { inputName, readInput } from '../input/read-input.ts';
import { readDeployment } from '../input/read-keys.ts';
import { inCommands } from '../output/in-commands.ts';
import { openOutput } from '../output/output.ts';
import type { CommonFlags, FormatFlags, SigningFlags } from '../routes/common-flags.ts';
import type { RunCommand } from '../routes/define-command.ts';

export interface ExplainFlags extends CommonFlags, FormatFlags, SigningFlags {
  readonly purpose: SigningPurpose;
}

/** Explains why a body's signature does not match. */
export const explain: RunCommand<ExplainFlags, [path?: string]> = async (context, flags, path) => {
  const output = openOutput(context, flags);
  const secrets = await readDetectionSecrets(context, flags);
  const { signature: scheme } = readDeployment(context, flags);
  const { body } = readDelivery(await readInput(context, path), inputName(path));
  const explanation = explainMismatch(body, { secrets, scheme, purpose: flags.purpose });
  const { findings, deviations, nextStep } = explanation;
  output.result(explanation, (paint) => [
    ...findings.map(({ code, message }) => `${paint('bold', code)}: ${inCommands(message)}`),
    ...deviations.map(({ code, count, description }) => `${paint('dim', code)}: ${description} (${count})`),
    `Next: ${inCommands(nextStep)}`,
  ]);
  return findings.every(({ code }) => code === 'no-mismatch') ? exitCodes.ok : exitCodes.findings;
};
