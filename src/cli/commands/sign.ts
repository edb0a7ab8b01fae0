import { merchantOfOrder, signingKey } from '../../credentials/signing-key.ts';
import { signBody } from '../../signature/sign-body.ts';
import { defineCommand } from '../command.ts';
import { currentCredentials, readConfiguration } from '../configuration.ts';
import { CliError, exitCodes } from '../context.ts';
import { formatFlags, merchantFlag, optionalFile, purposeFlag, signingFlags } from '../flags.ts';
import { inputName, readExactJsonObject, readInput } from '../input.ts';
import { openOutput } from '../output.ts';

const flags = { purpose: purposeFlag, merchant: merchantFlag, ...signingFlags, ...formatFlags };

export default defineCommand({
  brief: 'Sign a JSON body',
  about:
    'Signs the JSON object in a file or on stdin, and prints the text to post. The body is serialized again: post the printed text, not the file.',
  examples: [
    'partner-exchange sign order.json > signed.json',
    'partner-exchange sign --purpose general --keys keys.json < body.json',
  ],
  flags,
  args: [optionalFile('The body (default: stdin)')],
  async run(context, flags, path) {
    const output = openOutput(context, flags);
    const configuration = await readConfiguration(context, flags);
    const scheme = configuration.deployment.signature;
    const { purpose, merchant } = flags;
    const credentials = currentCredentials(configuration);
    const body = readExactJsonObject(await readInput(context, path), inputName(path));
    const signer = purpose === 'order' ? merchantOfOrder(credentials, body, { merchant, scheme }) : undefined;
    const key = signingKey(credentials, purpose, { merchant: signer, scheme });
    const signed = signBody(body, { key, scheme });
    if (context.secrets.redact(signed.text) !== signed.text) {
      throw new CliError('The body holds one of the keys, and would show it: take it out.');
    }
    if (output.format === 'json') output.result(signed, () => []);
    // A line break would become part of the body that is posted. On a terminal it keeps the prompt apart.
    else output.raw(context.stdout.isTTY ? `${signed.text}\n` : signed.text);
    return exitCodes.ok;
  },
});
