import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { controlTable } from '../../src/sandbox/control/control-api.ts';
import type { ControlEndpoint } from '../../src/sandbox/control/control-endpoint.ts';
import { sandboxEndpoints } from '../../src/sandbox/control/sandbox-endpoints.ts';
import { createSandbox } from '../../src/sandbox/create-sandbox.ts';
import { readSandboxOptions } from '../../src/sandbox/sandbox-options.ts';
import { createState } from '../../src/sandbox/state.ts';

export const inspectorPage = join(import.meta.dirname, '..', '..', 'docs', 'inspector.md');

/** Every endpoint below `/_sandbox/`. */
export function sandboxTable(): readonly ControlEndpoint[] {
  const sandbox = createSandbox();
  const state = createState(sandbox.deployment, readSandboxOptions({}));
  return controlTable({
    source: 'sandbox',
    path: '/_sandbox/',
    endpoints: sandboxEndpoints(sandbox, state),
  });
}

/** The table of the API in docs/inspector.md. */
export function apiTable(): string {
  const rows = sandboxTable()
    .toSorted((one, other) => one.method.localeCompare(other.method))
    .map((each) => [`\`${`${each.method} ${each.path}`.trim()}\``, inputOf(each), each.summary])
    .map((cells) => `| ${cells.join(' | ')} |`.replace('|  |', '| |'));
  return ['| request | query or body | does |', '|---|---|---|', ...rows].join('\n');
}

function inputOf({ query, body }: ControlEndpoint): string {
  if (query !== undefined)
    return Object.keys(query.shape)
      .map((name) => `\`${name}\``)
      .join(', ');
  if (body === undefined) return '';
  const { examples = [] } = z.toJSONSchema(body, { io: 'input' });
  return `\`${JSON.stringify(examples[0])}\``;
}

if (import.meta.main) {
  const text = readFileSync(inspectorPage, 'utf8');
  const start = text.indexOf('| request |');
  writeFileSync(inspectorPage, text.slice(0, start) + apiTable() + text.slice(text.indexOf('\n\n', start)));
}
