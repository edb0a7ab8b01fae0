import { ExchangeClient } from '../../../client/exchange-client.ts';
import { readDeployment, requireAddress } from '../inputs/configuration.ts';
import { defineCommand } from '../terminal/command.ts';
import { CliError, exitCodes } from '../terminal/context.ts';
import { formatFlags, textFlag } from '../terminal/flags.ts';
import { openOutput } from '../terminal/output.ts';
import { showReply } from '../terminal/replies.ts';

const flags = {
  email: textFlag.required('address', 'Where the link to the keys is sent'),
  partnerCode: textFlag.optional('code', 'A code of your choice (default: PARTNER_CODE)'),
  ...formatFlags,
};

export default defineCommand({
  brief: 'Register as a partner',
  about:
    'Asks the service for keys. They come by e-mail, as a link that works once. Needs PARTNER_EXCHANGE_ONBOARDING_BASE_URL.',
  examples: ['partner-exchange onboard --partner-code acme --email dev@acme.example'],
  json: '{ status, body }, the body without possible credentials',
  flags,
  async run(context, flags) {
    const output = openOutput(context, flags);
    const { email, partnerCode: partner_code = context.env.PARTNER_CODE } = flags;
    if (partner_code === undefined || partner_code === '') {
      throw new CliError('There is no partner code: choose one, and give it with --partner-code.');
    }
    const deployment = readDeployment(context);
    requireAddress(deployment, 'onboard');
    const exchange = new ExchangeClient({ deployment, fetch: context.fetch });
    const reply = await exchange.onboard({ partner_code, email }, { signal: context.signal });
    showReply(output, 'accepted', reply);
    output.status(
      'Next: open the link in the e-mail, once. Put the keys into PARTNER_PUBLIC_KEY, PARTNER_SECRET_KEY, ' +
        'MERCHANT_SECRET_KEY and PARTNER_ID, or into a file of mode 0600 for --keys. Then: partner-exchange whitelist-ip.',
    );
    return exitCodes.ok;
  },
});
