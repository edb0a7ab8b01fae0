import type { Words } from '../errors/remedies.ts';
import { deploymentVariables } from './environment-variables.ts';

/** What the advice of the library mentions, as commands and variables. */
export const commandWords: Words = {
  detect: '"partner-exchange detect"',
  oracle: '"partner-exchange probe --oracle"',
  probe: 'what "partner-exchange probe" prints',
  explain: '"partner-exchange explain"',
  pin: '"partner-exchange pin"',
  whitelist: 'run "partner-exchange whitelist-ip" on it',
  scan: 'run "partner-exchange messenger scan"',
  askAgain: 'ask again with --again',
  receiveKeys: 'give them to "partner-exchange keys receive"',
  promoteKeys: 'run "partner-exchange keys promote"',
  observe: 'wait for an event of it',
  settle: 'run "partner-exchange order settle"',
  handled: '--handled-url or --handled-command',
  sendAgain: '--again',
  merchant: '--merchant',
  reload: 'run the command again',
  readReply: 'Ask the operator of the service for the reason',
  keyForOrders: '--purpose order',
  delimiter: 'Give --delimiter',
  columns: 'Name the column that you mean with --column.',
  allowInsecureHttp: 'PARTNER_EXCHANGE_ALLOW_INSECURE_HTTP=true',
  settings: (...names) => names.map(variablesOf).join(' and '),
};

/** The variables that set an option of `defineDeployment`, or the option itself where only a program can give it. */
function variablesOf(option: string): string {
  // A scheme in a file is kept; two variables set it.
  if (option === 'signature') return 'PARTNER_EXCHANGE_SCHEME_FILE';
  const names = deploymentVariables
    .filter(({ sets }) => sets === option || sets.startsWith(`${option}.`))
    .map(({ name }) => name);
  return names.length === 0 ? `${option}, in a program of yours` : names.join(' and ');
}
