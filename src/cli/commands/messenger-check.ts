import { MessengerClient } from '../../messenger/messenger-client.ts';
import { exitCodes } from '../context/exit-code.ts';
import { readConfiguration } from '../input/read-keys.ts';
import { requireAddress } from '../input/require-address.ts';
import { secretOrAsk } from '../input/secret-or-ask.ts';
import { openOutput } from '../output/output.ts';
import { bodyLine, shownBody } from '../output/reply-body.ts';
import type { CommonFlags, FormatFlags } from '../routes/common-flags.ts';
import type { RunCommand } from '../routes/define-command.ts';

export interface MessengerCheckFlags extends CommonFlags, FormatFlags {}

/** Asks whether a number is on the messenger. */
export const messengerCheck: RunCommand<MessengerCheckFlags, [phone: string]> = async (
  context,
  flags,
  phone,
) => {
  const output = openOutput(context, flags);
  const { deployment, apiKey: given } = await readConfiguration(context);
  requireAddress(deployment, 'checkNumber');
  const question = 'API key of the device';
  const apiKey = await secretOrAsk(context, { variable: 'MESSENGER_API_KEY', given, question });
  const messenger = new MessengerClient({ deployment, apiKey, fetch: context.fetch });
  const { status, body } = await messenger.checkNumber({ to_phone: phone }, { signal: context.signal });
  output.result({ status, body: shownBody(body) }, (paint) => [
    `${paint('green', 'answered')} with status ${status}: ${bodyLine(body)}`,
  ]);
  return exitCodes.ok;
};
