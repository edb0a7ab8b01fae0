import { MessengerClient } from '../../messenger/messenger-client.ts';
import { CliError } from '../context/cli-error.ts';
import { exitCodes } from '../context/exit-code.ts';
import { readConfiguration } from '../input/read-keys.ts';
import { requireAddress } from '../input/require-address.ts';
import { secretOrAsk } from '../input/secret-or-ask.ts';
import { openSecretAddress } from '../output/open-secret-address.ts';
import { openOutput } from '../output/output.ts';
import { qrCode } from '../output/qr-code.ts';
import type { CommonFlags } from '../routes/common-flags.ts';
import type { RunCommand } from '../routes/define-command.ts';

export interface MessengerScanFlags extends CommonFlags {
  readonly open: boolean;
}

/** Shows the address that pairs a device, or opens it. */
export const messengerScan: RunCommand<MessengerScanFlags> = async (context, flags) => {
  const output = openOutput(context);
  const { deployment, apiKey: given } = await readConfiguration(context);
  requireAddress(deployment, 'scanDevice');
  const apiKey = await secretOrAsk(context, {
    variable: 'MESSENGER_API_KEY',
    given,
    question: 'API key of the device',
  });
  const address = new MessengerClient({ deployment, apiKey }).scanDeviceUrl();
  if (flags.open) {
    await openSecretAddress(context, address);
    output.say(
      'Opened. Next: scan what the page shows with the device, then send: partner-exchange messenger send.',
    );
    return exitCodes.ok;
  }
  const lines = qrCode(address);
  const width = Math.max(...lines.map((line) => line.length));
  // A terminal that does not know its size says 0.
  if ((context.stdout.columns || width) < width) {
    throw new CliError(
      `The terminal is narrower than the QR code: make it ${width} columns wide, or use --open.`,
    );
  }
  output.raw(`${lines.join('\n')}\n`);
  output.say(
    'It holds the API key: show it to the owner of the device only, and clear the screen afterwards.',
  );
  return exitCodes.ok;
};
