import { buildRouteMap } from '@stricli/core';
import type { RunContext } from '../../terminal/context.ts';
import { advance } from './sandbox-advance.ts';
import { startSandbox } from './sandbox-start.ts';

export default buildRouteMap<string, RunContext>({
  routes: { start: startSandbox, advance },
  docs: {
    brief: 'Run the service, simulated',
    fullDescription:
      'Runs the service on this machine, simulated. Without a command it starts a sandbox: "sandbox --port 4300" is "sandbox start --port 4300". "sandbox advance" moves an order of a sandbox that you started, from another terminal or from the command of --exec. For the rest use the inspector, or the lines of curl that a sandbox prints at its start.',
  },
});
