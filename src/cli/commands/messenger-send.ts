import { MessengerClient } from '../../messenger/messenger-client.ts';
import { CliError } from '../context/cli-error.ts';
import { exitCodes } from '../context/exit-code.ts';
import { inputName, readInput } from '../input/read-input.ts';
import { readConfiguration } from '../input/read-keys.ts';
import { requireAddress } from '../input/require-address.ts';
import { secretOrAsk } from '../input/secret-or-ask.ts';
import { openOutput } from '../output/output.ts';
import type { CommonFlags, FormatFlags } from '../routes/common-flags.ts';
import type { RunCommand } from '../routes/define-command.ts';

export interface MessengerSendFlags extends CommonFlags, FormatFlags {
  readonly verifyCheck?: boolean | undefined;
}

/** Sends one message. */
export const messengerSend: RunCommand<MessengerSendFlags, [phone: string, path?: string]> = async (
  context,
  flags,
  phone,
  path,
) => {
  const output = openOutput(context, flags);
  const { deployment, apiKey: given } = await readConfiguration(context);
  requireAddress(deployment, 'sendMessage');
  const question = 'API key of the device';
  const apiKey = await secretOrAsk(context, { variable: 'MESSENGER_API_KEY', given, question });
  const message = readMessage(await readInput(context, path), inputName(path));
  const messenger = new MessengerClient({ deployment, apiKey, fetch: context.fetch });
  const { verifyCheck: verify_check } = flags;
  const request = { to_phone: phone, message, ...(verify_check !== undefined && { verify_check }) };
  const { status } = await messenger.sendMessage(request, { signal: context.signal });
  // Not the reply's body: it may repeat the message.
  output.result({ status }, (paint) => [`${paint('green', 'sent')} with status ${status}`]);
  return exitCodes.ok;
};

function readMessage(bytes: Uint8Array, name: string): string {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new CliError(`${name} is not UTF-8 text: save it as UTF-8.`);
  }
  // Editors and `echo` end a text with a line break, which is not part of the message.
  const message = text.replace(/\r?\n$/, '');
  if (message.trim() === '') throw new CliError(`${name} is empty: there is no message to send.`);
  return message;
}
