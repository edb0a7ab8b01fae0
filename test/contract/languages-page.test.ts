import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseSignedBody } from '../../src/signature/signed-body.ts';
import { root } from '../../tools/checks/entries.ts';

const page = readFileSync(join(root, 'docs/languages.md'), 'utf8');
const files = {
  python: 'receiver.py',
  php: 'receiver.php',
  go: 'receiver.go',
  java: 'Receiver.java',
  ruby: 'receiver.rb',
};

describe('docs/languages.md', () => {
  it.each(Object.entries(files))('shows lines of the example in %s', (language, file) => {
    const [, block = ''] = page.split(`\`\`\`${language}\n`);
    const shown = (block.split('```')[0] ?? '').trimEnd().split('\n');
    const lines = readFileSync(join(root, 'examples/languages', file), 'utf8').split('\n');
    expect(shown.length).toBeGreaterThan(3);
    expect(shown.length).toBeLessThanOrEqual(10);
    expect(shown.filter((line) => !lines.includes(line))).toEqual([]);
  });

  it('cuts the signature out as the package does', () => {
    const [, rows = ''] = page.split('| body | signed text |\n|---|---|\n');
    const cases = [...(rows.split('\n\n')[0] ?? '').matchAll(/^\| `(.*)` \| `(.*)` \|$/gm)];
    expect(cases.length).toBe(5);
    for (const [, body = '', signed] of cases) {
      const text = body.replace('…', '0'.repeat(128));
      expect(parseSignedBody(text, 'hex').json, body).toBe(signed);
    }
  });
});
