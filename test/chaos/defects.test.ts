import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { defects } from './defects.ts';

it.each(defects)('The text that becomes "$name" stands once in the product', ({ file, find }) => {
  const source = readFileSync(join(import.meta.dirname, '../../src', file), 'utf8');
  expect(source.split(find)).toHaveLength(2);
});
