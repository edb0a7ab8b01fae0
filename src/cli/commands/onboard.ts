import { ExchangeClient } from '../../exchange/exchange-client.ts';
import { CliError } from '../context/cli-error.ts';
import { exitCodes } from '../context/exit-code.ts';
import { readDeployment } from '../input/read-keys.ts';
import { requireAddress } from '../input/require-address.ts';
import { openOutput } from '../output/output.ts';
import { bodyLine, shownBody } from '../output/reply-body.ts';
import type { CommonFlags, FormatFlags } from '../routes/common-flags.ts';
import type { RunCommand } from '../routes/define-command.ts';

export interface OnboardFlags extends CommonFlags, FormatFlags {
  readonly email: string;
  readonly partnerCode?: string | undefined;
}

/** Registers a partner. */
export const onboard: RunCommand<OnboardFlags> = async (context, flags) => {
  const output = openOutput(context, flags);
  const { email, partnerCode: partner_code = context.env.PARTNER_CODE } = flags;
  if (partner_code === undefined || partner_code === '') {
    throw new CliError('There is no partner code: choose one, and give it with --partner-code.');
  }
  const deployment = readDeployment(context);
  requireAddress(deployment, 'onboard');
  const exchange = new ExchangeClient({ deployment, fetch: context.fetch });
  const { status, body } = await exchange.onboard({ partner_code, email }, { signal: context.signal });
  output.result({ status, body: shownBody(body) }, (paint) => [
    `${paint('green', 'accepted')} with status ${status}: ${bodyLine(body)}`,
  ]);
  output.say(
    'Next: open the link in the e-mail, once. Put the keys into PARTNER_PUBLIC_KEY, PARTNER_SECRET_KEY, ' +
      'MERCHANT_SECRET_KEY and PARTNER_ID, or into a file of mode 0600 for --keys. Then: partner-exchange whitelist-ip.',
  );
  return exitCodes.ok;
};
