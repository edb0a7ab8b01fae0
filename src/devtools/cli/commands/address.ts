import { buildRouteMap } from '@stricli/core';
import { addressReasons } from '../../../deployment/addresses/address-reasons.ts';
import { checkAddress } from '../../../deployment/addresses/check-address.ts';
import { defineCommand } from '../terminal/command.ts';
import { exitCodes } from '../terminal/context.ts';
import { arg, formatFlags, textFlag } from '../terminal/flags.ts';
import { openOutput } from '../terminal/output.ts';

const styles = { valid: 'green', unchecked: 'yellow', refused: 'red' } as const;

const check = defineCommand({
  brief: 'Check whether an address is possible on its chain',
  about:
    'Checks form and checksum of an address, offline. A chain without a known form is unchecked. Prints no address: it may be a secret that was pasted by mistake. Exits with 1 if an order with it would be refused.',
  examples: [
    'partner-exchange address check TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP --chain usdt-trc20',
    'partner-exchange address check 0xb7C978B070509bFEefa71fC3C984775072F837DF --chain usdc-matic --format json',
  ],
  json: "What checkAddress returns: { verdict: 'valid' | 'unchecked' | 'refused', reason?, looksLike? }",
  flags: { chain: textFlag.required('chain', 'Chain of the order, such as usdt-trc20'), ...formatFlags },
  args: [arg('address', 'Address of the buyer')],
  async run(context, flags, address) {
    const output = openOutput(context, flags);
    const result = checkAddress(address, { chain: flags.chain });
    const { verdict, reason, looksLike } = result;
    output.result(result, (paint) => {
      const words = reason === undefined ? '' : ` (${reason}): it ${addressReasons[reason].words}`;
      const forms = looksLike === undefined ? '' : `: its form is ${looksLike.join(' or ')}`;
      return [paint(styles[verdict], verdict) + words + forms];
    });
    return verdict === 'refused' ? exitCodes.findings : exitCodes.ok;
  },
});

export default buildRouteMap({ routes: { check }, docs: { brief: 'Check addresses, offline' } });
