import { deploymentVariables } from '../../config/environment-variables.ts';

/** What the library's messages call a thing, and what it is on the command line. */
const commands: readonly (readonly [RegExp, string])[] = [
  [/\{ again: true \}|again: true/g, '--again'],
  [/call whitelistIp\(\) from it/g, 'run "partner-exchange whitelist-ip" on it'],
  [/open scanDeviceUrl\(\) and scan/g, 'run "partner-exchange messenger scan"'],
  [/receive\(\) (those|the keys)/g, 'run "partner-exchange keys receive" with $1'],
  [/receive\(\)/g, '"partner-exchange keys receive"'],
  [/of it \(observe\)/g, 'of it'],
  [/call settle\b/g, 'run "partner-exchange order settle"'],
  [/defineDeployment\(\{ signature \}\)/g, 'PARTNER_EXCHANGE_SCHEME_FILE'],
  [/detectScheme of partner-exchange-sdk\/diagnostics/g, '"partner-exchange detect"'],
  [/\bdetectScheme\b/g, '"partner-exchange detect"'],
  [/\bexplainMismatch\b/g, '"partner-exchange explain"'],
  [/\bdetectFromOracle\b/g, '"partner-exchange probe --oracle"'],
  [/the text of probeBody\(\)|probeBody\(\)/g, 'what "partner-exchange probe" prints'],
  [/\bpinScheme\b/g, '"partner-exchange pin"'],
  [/: give `handled`, which tells how often it acted on an order/g, ': look into its records of the orders'],
  [/ \(signBody and verifyBody\)/g, ''],
  [/signingKey\(credentials, "order"\)/g, '--purpose order'],
  [/Give defineDeployment the scheme of the pin/g, 'Name the pin in PARTNER_EXCHANGE_SCHEME_FILE'],
  [/wireNames of defineDeployment/g, 'PARTNER_EXCHANGE_NAME_MESSENGER_DEVICE_NO'],
  [
    /numberCheckParameters of defineDeployment/g,
    'PARTNER_EXCHANGE_PARAMETER_API_KEY and PARTNER_EXCHANGE_PARAMETER_TO_PHONE',
  ],
  [/orderSchema of defineDeployment/g, 'orderSchema, in a program of yours'],
  [/ of defineDeployment\b/g, ''],
];

/** A message of the library in the words of the command line: commands and variables instead of functions and options. */
export function inCommands(message: string): string {
  let text = message;
  for (const [pattern, words] of commands) text = text.replace(pattern, words);
  for (const { name, sets } of deploymentVariables) {
    // `signature` is also a member of every body.
    if (sets !== 'signature')
      text = text.replaceAll(new RegExp(`\\b${sets.replace('.', '\\.')}\\b`, 'g'), name);
  }
  return text;
}
