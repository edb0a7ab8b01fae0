import type { WhitelistIpFlags } from '../commands/whitelist-ip.ts';
import { commonFlags, formatFlags, keysFlags } from './common-flags.ts';
import { defineCommand } from './define-command.ts';
import { synopses } from './synopses.ts';

export const whitelistIpCommand = defineCommand<WhitelistIpFlags>({
  brief: synopses['whitelist-ip'].brief,
  about:
    'Has the service whitelist the address from which this machine calls it. Run it on each machine that creates orders. Needs PARTNER_EXCHANGE_STAGING_URL.',
  examples: ['partner-exchange whitelist-ip'],
  parameters: { flags: { ...keysFlags, ...formatFlags, ...commonFlags } },
  load: async () => (await import('../commands/whitelist-ip.ts')).whitelistIp,
});
