/** For runtimes with a command line: prints the report as the last line. */
import { Checks } from './checks.ts';
import { commandLine } from './command-line.ts';
import { checkRequests } from './requests.ts';
import { runSuite } from './run-suite.ts';
import { answer } from './shared-receivers.ts';

const loaded = import.meta.resolve('partner-exchange-sdk/signature');
if (!loaded.includes('/test/runtimes/node_modules/partner-exchange-sdk/dist/')) {
  throw new Error(`What is tried is not the installed package: ${loaded}`);
}
const checks = new Checks();
const platform = commandLine();
try {
  await runSuite(checks, platform);
  await checkRequests(checks, answer);
} finally {
  platform.remove();
}
console.log(JSON.stringify(checks.report()));
