import { ExchangeClient } from '../../exchange/exchange-client.ts';
import { exitCodes } from '../context/exit-code.ts';
import { readConfiguration } from '../input/read-keys.ts';
import { requireAddress } from '../input/require-address.ts';
import { openOutput } from '../output/output.ts';
import { bodyLine, shownBody } from '../output/reply-body.ts';
import type { CommonFlags, FormatFlags, KeysFlags } from '../routes/common-flags.ts';
import type { RunCommand } from '../routes/define-command.ts';

export interface WhitelistIpFlags extends CommonFlags, FormatFlags, KeysFlags {}

/** Has the service capture the caller's IP. */
export const whitelistIp: RunCommand<WhitelistIpFlags> = async (context, flags) => {
  const output = openOutput(context, flags);
  const { deployment, credentials } = await readConfiguration(context, flags);
  requireAddress(deployment, 'whitelistIp');
  const exchange = new ExchangeClient({ deployment, credentials: credentials[0], fetch: context.fetch });
  const { status, body } = await exchange.whitelistIp({}, { signal: context.signal });
  output.result({ status, body: shownBody(body) }, (paint) => [
    `${paint('green', 'captured')} with status ${status}: ${bodyLine(body)}`,
  ]);
  output.say(
    'Next: create an order from this machine. Calls of another machine, or after its address changed, need this again.',
  );
  return exitCodes.ok;
};
