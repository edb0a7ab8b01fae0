import { explainMismatch } from '../../diagnostics/mismatch/explain-mismatch.ts';
import { readSavedRequest } from '../deliveries/saved-deliveries.ts';
import { readDeployment, readDetectionSecrets } from '../inputs/configuration.ts';
import { inputName, readInput } from '../inputs/input.ts';
import { defineCommand } from '../terminal/command.ts';
import { exitCodes } from '../terminal/context.ts';
import { formatFlags, optionalFile, purposeFlag, signingFlags } from '../terminal/flags.ts';
import { openOutput } from '../terminal/output.ts';

const flags = { purpose: purposeFlag, ...signingFlags, ...formatFlags };

export default defineCommand({
  brief: 'Explain why a signature does not match',
  about:
    'Names the scheme and key that would have matched, the places where a framework changed the text, and the next step. Exits with 0 only if nothing is off.',
  examples: ['partner-exchange explain event.json', 'partner-exchange explain --format json < event.json'],
  json: 'What explainMismatch returns',
  flags,
  args: [optionalFile('A raw body or a saved delivery (default: stdin)')],
  async run(context, flags, path) {
    const output = openOutput(context, flags);
    const secrets = await readDetectionSecrets(context, flags);
    const { signature: scheme } = readDeployment(context, flags);
    const { body } = readSavedRequest(await readInput(context, path), inputName(path));
    const explanation = explainMismatch(body, { secrets, scheme, purpose: flags.purpose });
    const { findings, deviations, nextStep } = explanation;
    output.result(explanation, (paint) => [
      ...findings.map(({ code, message }) => `${paint('bold', code)}: ${message}`),
      ...deviations.map(({ code, count, description }) => `${paint('dim', code)}: ${description} (${count})`),
      `Next: ${nextStep}`,
    ]);
    return findings.every(({ code }) => code === 'no-mismatch') ? exitCodes.ok : exitCodes.findings;
  },
});
