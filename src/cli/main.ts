#!/usr/bin/env node
import { exitCodes } from './context/exit-code.ts';
import { processContext } from './context/process-context.ts';
import { runCli } from './run-cli.ts';

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    // The first lets the command end in order, the second ends it at once.
    if (stopping.signal.aborted) process.exit(exitCodes.stopped);
    stopping.abort();
  });
}

// Node's own form has several lines, and its warnings about itself are not for this command's user.
process.removeAllListeners('warning');
process.on('warning', ({ name, message }) => {
  if (name === 'PartnerExchangeWarning') process.stderr.write(`warning: ${message}\n`);
});

// npx runs it on whatever Node there is.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 12)) {
  process.stderr.write(
    `error: Node ${process.versions.node} is too old: install 22.12 or later, and run this again.\n`,
  );
  process.exit(exitCodes.usage);
}

// Not awaited at the top: commands are loaded from files that import this one, and would wait for it.
const { context, end } = processContext(stopping);
void runCli(process.argv.slice(2), context).then(end);
