import { resolve } from 'node:path';
import { MessengerClient } from '../../messenger/messenger-client.ts';
import { printableText } from '../../redaction/printable-text.ts';
import { CliError } from '../context/cli-error.ts';
import { exitCodes } from '../context/exit-code.ts';
import { readConfiguration } from '../input/read-keys.ts';
import { requireAddress } from '../input/require-address.ts';
import { secretOrAsk } from '../input/secret-or-ask.ts';
import { keepReply } from '../output/keep-reply.ts';
import { openOutput } from '../output/output.ts';
import type { CommonFlags, FormatFlags } from '../routes/common-flags.ts';
import type { RunCommand } from '../routes/define-command.ts';

export interface MessengerKeyFlags extends CommonFlags, FormatFlags {
  readonly save: string;
}

/** Generates an API key, and keeps the reply before anything is said. */
export const messengerKey: RunCommand<MessengerKeyFlags, [device: string]> = async (
  context,
  flags,
  device,
) => {
  const output = openOutput(context, flags);
  const { deployment, masterKey: given } = await readConfiguration(context);
  requireAddress(deployment, 'generateApiKey');
  const variable = 'MESSENGER_MASTER_KEY';
  const masterKey = await secretOrAsk(context, { variable, given, question: 'Master key of the messenger' });
  const messenger = new MessengerClient({ deployment, masterKey, fetch: context.fetch });
  const isKept = await keepReply(resolve(context.cwd, flags.save), async () => {
    const request = { messenger_device_no: device };
    return (await messenger.generateApiKey(request, { signal: context.signal })).body;
  });
  if (!isKept) {
    const message = 'The reply was empty: ask the operator of the messenger where the key is shown.';
    throw new CliError(message, { exitCode: exitCodes.findings });
  }
  output.result({ device, file: flags.save }, (paint) => [
    `${paint('green', 'kept')} the reply in ${printableText(flags.save)}, for you alone.`,
  ]);
  output.say('Next: set MESSENGER_API_KEY to the key in it, and run: partner-exchange messenger scan.');
  return exitCodes.ok;
};
