import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './entries.ts';
import { run } from './run.ts';

/** Calls that throw inside the package, each with the line of the sources that its stack trace has to name. */
const throwing = [
  {
    entry: 'partner-exchange-sdk',
    call: "checkAddress(7, { chain: 'a' })",
    source: 'src/deployment/addresses/check-address.ts',
    line: "throw invalidOption('The address must be a text.')",
  },
  {
    entry: 'partner-exchange-sdk/signature',
    call: "signBody({}, { key: '' })",
    source: 'src/signature/sign-body.ts',
    line: 'checkVerificationKey(options.key)',
  },
];

/** What the stack traces of an installed package do not name, with Node's `--enable-source-maps`. */
export function findTraceProblems(folder: string): string[] {
  return throwing.flatMap(({ entry, call, source, line }) => {
    const lines = readFileSync(join(root, source), 'utf8').split('\n');
    const expected = `${source}:${lines.findIndex((text) => text.includes(line)) + 1}:`;
    const program = `const entry = await import('${entry}'); try { entry.${call} } catch ({ stack }) { console.log(stack) }`;
    const flags = ['--enable-source-maps', '--input-type=module', '--eval', program];
    const trace = run(process.execPath, flags, { cwd: folder });
    return trace.includes(expected) ? [] : [`no ${expected} in the trace of ${call}:\n${trace}`];
  });
}
