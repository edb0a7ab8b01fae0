import { buildRouteMap } from '@stricli/core';
import { confirm } from '../../inputs/input.ts';
import { defineCommand } from '../../terminal/command.ts';
import { exitCodes, type RunContext } from '../../terminal/context.ts';
import { confirmFlags, formatFlags } from '../../terminal/flags.ts';
import { openOutput } from '../../terminal/output.ts';
import { callSandbox } from './call-sandbox.ts';
import { chooseSandbox, sandboxFlags } from './running-sandboxes.ts';
import { clockCommands } from './sandbox-clock.ts';
import { advance, emails, messages, ordersCommand, play } from './sandbox-orders.ts';
import { startSandbox } from './sandbox-start.ts';

const reset = defineCommand({
  brief: 'Make a running sandbox forget everything',
  about:
    'Makes a running sandbox forget everything since its start: partners, orders, devices and faults. The keys and the whitelisted IP that it printed or passed on at its start are there again, with the same values. Its time stays.',
  examples: ['partner-exchange sandbox reset', 'partner-exchange sandbox reset --yes --port 4300'],
  json: '{ done: true }',
  flags: { ...confirmFlags, ...sandboxFlags, ...formatFlags },
  async run(context, flags) {
    const output = openOutput(context, flags);
    const sandbox = await chooseSandbox(context, flags);
    await confirm(context, flags, `Make the sandbox at ${sandbox.url} forget everything?`);
    const answer = await callSandbox(context, sandbox, 'reset', {});
    output.result(answer, () => [`The sandbox at ${sandbox.url} was reset.`]);
    return exitCodes.ok;
  },
});

export default buildRouteMap<string, RunContext>({
  routes: {
    start: startSandbox,
    orders: ordersCommand,
    advance,
    play,
    emails,
    messages,
    clock: clockCommands,
    reset,
  },
  docs: {
    brief: 'Run the service, simulated, and control it',
    fullDescription:
      'Runs the service on this machine, simulated, and controls it while it runs. Without a command it starts a sandbox: "sandbox --port 4300" is "sandbox start --port 4300". The other commands work on a sandbox that you started, from another terminal or from the command of --exec.',
  },
});
