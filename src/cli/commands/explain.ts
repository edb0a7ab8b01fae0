import { commandWords } from '../../config/command-words.ts';
import { explainMismatch } from '../../diagnostics/mismatch/explain-mismatch.ts';
import { nextStepAfter } from '../../diagnostics/mismatch/mismatch-explanation.ts';
import { defineCommand } from '../command.ts';
import { readDeployment, readDetectionSecrets } from '../configuration.ts';
import { exitCodes } from '../context.ts';
import { readDelivery } from '../deliveries.ts';
import { formatFlags, optionalFile, purposeFlag, signingFlags } from '../flags.ts';
import { inputName, readInput } from '../input.ts';
import { openOutput } from '../output.ts';

const flags = { purpose: purposeFlag, ...signingFlags, ...formatFlags };

export default defineCommand({
  brief: 'Explain why a signature does not match',
  about:
    'Names the scheme and key that would have matched, the places where a framework changed the text, and the next step. Exits with 0 only if nothing is off.',
  examples: ['partner-exchange explain event.json', 'partner-exchange explain --format json < event.json'],
  flags,
  args: [optionalFile('A raw body or a saved delivery (default: stdin)')],
  async run(context, flags, path) {
    const output = openOutput(context, flags);
    const secrets = await readDetectionSecrets(context, flags);
    const { signature: scheme } = readDeployment(context, flags);
    const { body } = readDelivery(await readInput(context, path), inputName(path));
    const explanation = explainMismatch(body, { secrets, scheme, purpose: flags.purpose });
    const { findings, deviations } = explanation;
    output.result(explanation, (paint) => [
      ...findings.map(({ code, message }) => `${paint('bold', code)}: ${message}`),
      ...deviations.map(({ code, count, description }) => `${paint('dim', code)}: ${description} (${count})`),
      `Next: ${nextStepAfter(findings, commandWords)}`,
    ]);
    return findings.every(({ code }) => code === 'no-mismatch') ? exitCodes.ok : exitCodes.findings;
  },
});
