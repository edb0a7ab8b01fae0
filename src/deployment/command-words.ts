import type { Words } from '../errors/remedies.ts';
import { deploymentVariables } from './environment-variables.ts';

/** Commands and variables in place of functions and options. */
export const commandWords: Words = {
  detect: '"partner-exchange detect"',
  oracle: '"partner-exchange probe --oracle"',
  explain: '"partner-exchange explain"',
  pin: '"partner-exchange pin"',
  scan: 'run "partner-exchange messenger scan"',
  receiveKeys: 'give them to "partner-exchange keys receive"',
  merchant: '--merchant',
  acceptAddress: '--accept-address',
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
