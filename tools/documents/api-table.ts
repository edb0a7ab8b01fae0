import * as z from 'zod';
import { pageEndpoint } from '../../src/devtools/sandbox/control/control-api.ts';
import type { ControlEndpoint } from '../../src/devtools/sandbox/control/control-endpoint.ts';
import { sandboxEndpoints } from '../../src/devtools/sandbox/control/sandbox-endpoints.ts';
import { createSandbox } from '../../src/devtools/sandbox/create-sandbox.ts';
import { readSandboxOptions } from '../../src/devtools/sandbox/settings/sandbox-options.ts';
import { createState } from '../../src/devtools/sandbox/world/state.ts';

/** Every endpoint below `/_sandbox/`. */
function sandboxTable(): readonly ControlEndpoint[] {
  const sandbox = createSandbox();
  const state = createState(sandbox.deployment, readSandboxOptions({}));
  return [pageEndpoint, ...sandboxEndpoints(sandbox, state)];
}

/** Each endpoint: its request, what it takes, what it does. */
export function apiRows(): readonly (readonly string[])[] {
  return sandboxTable()
    .toSorted((one, other) => one.method.localeCompare(other.method))
    .map((each) => [`\`${`${each.method} ${each.path}`.trim()}\``, inputOf(each), each.summary]);
}

function inputOf({ query, body }: ControlEndpoint): string {
  const names = Object.keys(query?.shape ?? {});
  const { examples = [] } = body === undefined ? {} : z.toJSONSchema(body, { io: 'input' });
  return [...names, ...examples.map((example) => JSON.stringify(example))]
    .map((text) => `\`${text}\``)
    .join(', ');
}
