import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@hey-api/openapi-ts';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import openapiTypes, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { root } from '../../tools/checks/entries.ts';
import { scratchFolder } from '../support/scratch.ts';

const read = () => readFileSync(join(root, 'contract/openapi.json'), 'utf8');

describe('the contract', () => {
  it('is valid under the official schema, and its references resolve', async () => {
    const text = read();
    expect(await new Validator().validate(JSON.parse(text))).toMatchObject({ valid: true });
    const config = await createConfig({ extends: ['spec'] });
    const found = await lintFromString({ source: text, absoluteRef: join(root, 'openapi.json'), config });
    expect(found.filter(({ ruleId }) => ruleId === 'struct' || ruleId === 'no-unresolved-refs')).toEqual([]);
  });

  it('makes a client that compiles', { timeout: 60_000 }, async () => {
    const output = scratchFolder();
    // Sound: the generator checks the document.
    const input = JSON.parse(read()) as Record<string, unknown>;
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
    expect(compilerProblems(files)).toEqual([]);
  });

  it('makes types with enums that compile', { timeout: 60_000 }, async () => {
    const file = join(scratchFolder(), 'types.ts');
    writeFileSync(file, astToString(await openapiTypes(read(), { enum: true })));
    expect(compilerProblems([file])).toEqual([]);
  });

  it('names the values of each enum apart, whatever their case', async () => {
    const lists = enumsOf(JSON.parse(read()));
    expect(lists.length).toBeGreaterThan(0);
    for (const { values, names } of lists) {
      expect(names, values.join()).toHaveLength(values.length);
      expect(new Set(names.map((name) => name.toUpperCase())).size, names.join()).toBe(names.length);
    }
  });
});

function compilerProblems(files: readonly string[]): unknown[] {
  const program = ts.createProgram(files, { strict: true, noEmit: true, skipLibCheck: true, types: [] });
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => messageText);
}

interface EnumNames {
  readonly values: readonly unknown[];
  /** Those that generators take for the values. */
  readonly names: readonly string[];
}

/** Every enum at any depth. */
function enumsOf(value: unknown): EnumNames[] {
  if (typeof value !== 'object' || value === null) return [];
  const { enum: values, 'x-enum-varnames': varnames } = value as Partial<Record<string, unknown>>;
  const below = Object.values(value).flatMap(enumsOf);
  if (!Array.isArray(values)) return below;
  return [{ values, names: Array.isArray(varnames) ? varnames : values.map(String) }, ...below];
}
