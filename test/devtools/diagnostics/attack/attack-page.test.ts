import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { attackPage } from '../../../../tools/documents/attack-page.ts';

it('docs/details/attack-faults.md says what the tables of the attack say: npm run docs:tables writes it', () => {
  const page = new URL('../../../../docs/details/attack-faults.md', import.meta.url);
  expect(readFileSync(page, 'utf8')).toBe(attackPage());
});
