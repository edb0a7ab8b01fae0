import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@hey-api/openapi-ts';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../src/sandbox/create-sandbox.ts';
import { root } from '../../tools/checks/entries.ts';
import { scratchFolder } from '../support/scratch.ts';

async function controlApi(): Promise<string> {
  const server = await createSandbox().listen();
  try {
    return await (await fetch(`${server.url}/_sandbox/openapi.json`)).text();
  } finally {
    await server.close();
  }
}

const documents: readonly (readonly [name: string, read: () => string | Promise<string>])[] = [
  ['the contract', () => readFileSync(join(root, 'contract/openapi.json'), 'utf8')],
  ['the control API of the sandbox', controlApi],
];

describe.each(documents)('%s', (_, read) => {
  it('is valid under the official schema, and its references resolve', async () => {
    const text = await read();
    expect(await new Validator().validate(JSON.parse(text))).toMatchObject({ valid: true });
    const config = await createConfig({ extends: ['spec'] });
    const found = await lintFromString({ source: text, absoluteRef: join(root, 'openapi.json'), config });
    expect(found.filter(({ ruleId }) => ruleId === 'struct' || ruleId === 'no-unresolved-refs')).toEqual([]);
  });

  it('makes a client that compiles', { timeout: 60_000 }, async () => {
    const output = scratchFolder();
    // Sound: the generator checks the document.
    const input = JSON.parse(await read()) as Record<string, unknown>;
    await createClient({
      input,
      output: { path: output },
      plugins: ['@hey-api/typescript'],
      logs: { level: 'silent', file: false },
    });
    const files = readdirSync(output, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(output, name));
    expect(files.length).toBeGreaterThan(0);
    const program = ts.createProgram(files, { strict: true, noEmit: true, skipLibCheck: true, types: [] });
    const problems = ts.getPreEmitDiagnostics(program).map(({ messageText }) => messageText);
    expect(problems).toEqual([]);
  });
});
