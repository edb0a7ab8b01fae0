import { merchantOfOrder, signingKey } from '../../../credentials/signing-key.ts';
import { signBody } from '../../../signature/sign-body.ts';
import { currentCredentials, readConfiguration } from '../inputs/configuration.ts';
import { inputName, readExactJsonObject, readInput } from '../inputs/input.ts';
import { defineCommand } from '../terminal/command.ts';
import { CliError, exitCodes } from '../terminal/context.ts';
import { formatFlags, keysFlag, merchantFlag, optionalFile, purposeFlag } from '../terminal/flags.ts';
import { openOutput } from '../terminal/output.ts';

const flags = { purpose: purposeFlag, merchant: merchantFlag, keys: keysFlag, ...formatFlags };

export default defineCommand({
  brief: 'Sign a JSON body',
  about:
    'Signs the JSON object in a file or on stdin, and prints the text to post. The body is serialized again: post the printed text, not the file.',
  examples: [
    'partner-exchange sign order.json > signed.json',
    'partner-exchange sign --purpose general --keys keys.json < body.json',
  ],
  json: '{ text, signature }',
  flags,
  args: [optionalFile('The body (default: stdin)')],
  async run(context, flags, path) {
    const output = openOutput(context, flags);
    const configuration = await readConfiguration(context, flags);
    const scheme = configuration.deployment.signature;
    const credentials = currentCredentials(configuration);
    const { purpose } = flags;
    const body = readExactJsonObject(await readInput(context, path), inputName(path));
    const merchant =
      purpose === 'order' ? merchantOfOrder(credentials, body, { ...flags, scheme }) : undefined;
    const signed = signBody(body, { key: signingKey(credentials, purpose, { merchant, scheme }), scheme });
    if (context.secrets.redact(signed.text) !== signed.text) {
      throw new CliError('The body holds one of the keys, and would show it: take it out.');
    }
    output.exact(signed.text, signed);
    return exitCodes.ok;
  },
});
