import { type SigningPurpose, signingKey } from '../../credentials/signing-key.ts';
import { signBody } from '../../signature/sign-body.ts';
import { CliError } from '../context/cli-error.ts';
import { inputName, readInput } from '../input/read-input.ts';
import { readJsonObject } from '../input/read-json.ts';
import { currentCredentials, readConfiguration } from '../input/read-keys.ts';
import { openOutput } from '../output/output.ts';
import type { CommonFlags, FormatFlags, SigningFlags } from '../routes/common-flags.ts';
import type { RunCommand } from '../routes/define-command.ts';

export interface SignFlags extends CommonFlags, FormatFlags, SigningFlags {
  readonly purpose: SigningPurpose;
  readonly merchant?: string | undefined;
}

/** Signs a body and prints its text. */
export const sign: RunCommand<SignFlags, [path?: string]> = async (context, flags, path) => {
  const output = openOutput(context, flags);
  const configuration = await readConfiguration(context, flags);
  const scheme = configuration.deployment.signature;
  const { purpose, merchant } = flags;
  const key = signingKey(currentCredentials(configuration), purpose, { merchant, scheme });
  const body = readJsonObject(await readInput(context, path), inputName(path));
  const signed = signBody(body, { key, scheme });
  if (context.secrets.redact(signed.text) !== signed.text) {
    throw new CliError('The body holds one of the keys, and would show it: take it out.');
  }
  if (output.format === 'json') output.result(signed, () => []);
  // A line break would become part of the body that is posted. On a terminal it keeps the prompt apart.
  else output.raw(context.stdout.isTTY ? `${signed.text}\n` : signed.text);
  return undefined;
};
