import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const source = fileURLToPath(new URL('../../../src/devtools/sandbox/create-sandbox.ts', import.meta.url));

/** Says which files are loaded until the inspector is asked for, and by then. */
const program = `
import { registerHooks } from 'node:module';
const loaded = [];
registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
const { createSandbox } = await import(${JSON.stringify(source)});
const sandbox = createSandbox();
await sandbox.fetch('https://sandbox.localhost/');
const server = await sandbox.listen();
await fetch(server.url);
const before = loaded.filter((url) => url.includes('/control/'));
await (await fetch(server.url + '/_sandbox/state')).text();
const after = loaded.filter((url) => url.includes('/control/'));
console.log(JSON.stringify({ all: loaded.length, before, after: after.length }));
await server.close();
`;

it('a program that asks nothing under /_sandbox/ does not load it', () => {
  const node = fileURLToPath(new URL('../../../node_modules/node/bin/node', import.meta.url));
  const output = execFileSync(node, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  const { all, before, after } = JSON.parse(output);
  expect(all).toBeGreaterThan(50);
  expect(before).toEqual([]);
  expect(after).toBeGreaterThan(5);
});
