import { ExchangeClient } from '../../../client/exchange-client.ts';
import { readConfiguration, requireAddress } from '../inputs/configuration.ts';
import { defineCommand } from '../terminal/command.ts';
import { exitCodes } from '../terminal/context.ts';
import { formatFlags, keysFlag } from '../terminal/flags.ts';
import { openOutput } from '../terminal/output.ts';
import { showReply } from '../terminal/replies.ts';

const flags = { keys: keysFlag, ...formatFlags };

export default defineCommand({
  brief: "Whitelist this machine's IP",
  about:
    'Asks the service to whitelist the IP address of this machine. Run it on each machine that creates orders. Needs PARTNER_EXCHANGE_STAGING_URL.',
  examples: ['partner-exchange whitelist-ip'],
  json: '{ status, body }, the body without possible credentials',
  flags,
  async run(context, flags) {
    const output = openOutput(context, flags);
    const { deployment, credentials } = await readConfiguration(context, flags);
    requireAddress(deployment, 'whitelistIp');
    const exchange = new ExchangeClient({ deployment, credentials: credentials[0], fetch: context.fetch });
    const reply = await exchange.whitelistIp({ signal: context.signal });
    showReply(output, 'captured', reply);
    output.status(
      'Next: create an order from this machine. Calls of another machine, or after its address changed, need this again.',
    );
    return exitCodes.ok;
  },
});
