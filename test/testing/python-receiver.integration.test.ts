import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vectorsFile } from './conformance.ts';

const version = spawnSync('python3', ['--version'], { encoding: 'utf8' });
const missing = version.status === 0 ? '' : ' (skipped: there is no python3)';
const page = readFileSync(new URL('../../docs/details/testing.md', import.meta.url), 'utf8');

/** The checker that the page shows, and a receiver for it. */
const files = new Map([
  ['check_vectors.py', /^```python\n# check_vectors\.py\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? ''],
  ['receiver.py', readFileSync(new URL('receiver.py', import.meta.url), 'utf8')],
]);

const example = readFileSync(new URL('../../examples/languages/receiver.py', import.meta.url), 'utf8');

describe.skipIf(missing !== '')(`the Python of docs/details/testing.md${missing}`, () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'pex-vectors-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** Runs the checker over the vectors. @param change what to make of the receiver */
  function check(change: (receiver: string) => string = (receiver) => receiver) {
    for (const [name, code] of files) {
      writeFileSync(join(folder, name), name === 'receiver.py' ? change(code) : code);
    }
    return python('check_vectors.py', fileURLToPath(vectorsFile));
  }

  function python(...args: string[]) {
    const options = { cwd: folder, encoding: 'utf8', timeout: 20_000 } as const;
    const { status, stdout, stderr } = spawnSync('python3', ['-B', ...args], options);
    return { status, stdout, stderr };
  }

  it('accepts and refuses as the vectors say', () => {
    const { status, stdout, stderr } = check();
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const [, checked] = /^(\d+) checked, 0 wrong\n$/.exec(stdout) ?? [];
    expect(Number(checked)).toBeGreaterThan(150);
  });

  it.each([
    [
      'signs what it has parsed and written',
      'unsigned(text, start, end).encode()',
      'json.dumps({n: v for n, v in event.items() if n != "signature"}).encode()',
      'expected accept of event',
    ],
    [
      'takes the first of two signatures',
      '[(start, end, _, signature)] =',
      '[(start, end, _, signature), *rest] =',
      'expected refuse of two signatures',
    ],
    ['takes what is not JSON', '(parse_constant=no_json)', '()', 'not JSON: NaN'],
    [
      'lets the parser find out the encoding',
      'body.decode("utf-8")',
      'body.decode(json.detect_encoding(body))',
      'expected refuse of in UTF-16',
    ],
    [
      'ignores the case of the signature',
      'signature.encode(), ',
      'signature.lower().encode(), ',
      'in upper case',
    ],
    ['takes an empty key', 'key != "" and ', '', 'expected refuse of signed with the empty key'],
    [
      'has the partner secret alone',
      'hmac.new(key.encode()',
      'hmac.new(key[key.find("sk_partner"):].encode()',
      'the partner secret alone',
    ],
  ])('notice a receiver that %s', (_what, code, other, line) => {
    const { status, stdout } = check((receiver) => {
      expect(receiver).toContain(code);
      return receiver.replace(code, () => other);
    });
    expect(status).toBe(1);
    expect(stdout).toContain(line);
  });

  it('checks the example of docs/languages.md too', () => {
    const { status, stdout } = check(() => example);
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: expect.stringMatching(/^\d+ checked, 0 wrong\n$/),
    });
  });

  it('says how it is called, with exit code 2, and does nothing when it is imported', () => {
    check();
    const usage = 'Usage: check_vectors.py signatures.json\n';
    expect(python('check_vectors.py')).toEqual({ status: 2, stdout: '', stderr: usage });
    expect(python('-c', 'import check_vectors')).toEqual({ status: 0, stdout: '', stderr: '' });
    check(() => example);
    expect(python('-c', 'import receiver')).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  it('is what wrote the vectors: the script gives the same file again', () => {
    const target = join(folder, 'signatures.json');
    const script = fileURLToPath(new URL('../vectors/make-conformance.py', import.meta.url));
    const { stderr } = spawnSync('python3', [script, target], { encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(readFileSync(target).equals(readFileSync(vectorsFile))).toBe(true);
  });
});
