/** For runtimes with a command line: prints the report as the last line. */
import { runSuite } from './run-suite.ts';

const loaded = import.meta.resolve('partner-exchange-sdk/signature');
if (!loaded.includes('/test/runtimes/node_modules/partner-exchange-sdk/dist/')) {
  throw new Error(`What is tried is not the installed package: ${loaded}`);
}
console.log(JSON.stringify(await runSuite()));
