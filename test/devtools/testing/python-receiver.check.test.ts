import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { signingKey } from '../../../src/credentials/signing-key.ts';
import { eventBody } from '../../../src/devtools/testing/event-body.ts';
import { signedDelivery } from '../../../src/devtools/testing/signed-delivery.ts';
import { signBody } from '../../../src/signature/sign-body.ts';
import { verifyBody } from '../../../src/signature/verify-body.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { vectorsFile } from './conformance.ts';

const version = spawnSync('python3', ['--version'], { encoding: 'utf8' });
const missing = version.status === 0 ? '' : ' (skipped: there is no python3)';
const page = readFileSync(new URL('../../../docs/languages.md', import.meta.url), 'utf8');

/** The checker that the page shows, and a receiver for it. */
const files = new Map([
  ['check_vectors.py', /^```python\n# check_vectors\.py\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? ''],
  ['receiver.py', readFileSync(new URL('receiver.py', import.meta.url), 'utf8')],
]);

const example = readFileSync(new URL('../../../examples/languages/receiver.py', import.meta.url), 'utf8');

describe.skipIf(missing !== '')(`the Python of docs/languages.md${missing}`, () => {
  const folder = scratchFolder(afterAll);

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
    [
      'lets the parser find out the encoding',
      'body.decode("utf-8")',
      'body.decode(json.detect_encoding(body))',
      'expected refuse of in UTF-16',
    ],
    [
      'has the partner secret alone',
      'hmac.new(key.encode()',
      'hmac.new(key[key.find("sk_partner"):].encode()',
      'the partner secret alone',
    ],
  ])('notices a receiver that %s', (_what, code, other, line) => {
    const { status, stdout } = check((receiver) => {
      expect(receiver).toContain(code);
      return receiver.replace(code, () => other);
    });
    expect(status).toBe(1);
    expect(stdout).toContain(line);
  });

  /** What a program with the example as a module prints, one JSON value a line. */
  function withModule(program: string, ...args: string[]): unknown[] {
    check(() => example);
    const { stdout, stderr } = python('-c', `import json\nfrom receiver import *\n${program}`, ...args);
    expect(stderr).toBe('');
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  }

  const newest = 'sk_merchant_new' + 'sk_partner_new';
  const credentials = {
    partnerPublicKey: 'pk_partner_old',
    partnerSecretKey: 'sk_partner_old',
    merchantSecretKey: 'sk_merchant_new',
  };

  it('as a module takes several keys, of the environment the newest first', () => {
    const environment = `os.environ.update(MERCHANT_SECRET_KEY="sk_merchant_new", PARTNER_SECRET_KEY=" sk_partner_new\\tsk_partner_old ")`;
    const { text } = signBody({ id: 'A' }, { key: signingKey(credentials, 'order') });
    expect(
      withModule(
        `${environment}
body = sys.argv[1].encode()
print(json.dumps(keys()))
for known in [keys(), ["", keys()[1]], keys()[1], keys()[0], [], [""], ""]:
    print(json.dumps(verify(body, known) is not None))`,
        text,
      ),
    ).toEqual([[newest, 'sk_merchant_newsk_partner_old'], true, true, true, false, false, false, false]);
  });

  it('as a module keeps amounts as decimals, with every digit', () => {
    const text =
      '{"amount":15000.5000000000000000001,"whole":123456789012345678901234567890,"text":"15000.50"}';
    const signature = createHmac('sha512', newest).update(text).digest('hex');
    const body = `${text.slice(0, -1)},"signature":"${signature}"}`;
    expect(
      withModule(
        `event = verify(sys.argv[1].encode(), "${newest}")
print(json.dumps([f"{type(event[name]).__name__} {event[name]}" for name in ["amount", "whole", "text"]]))`,
        body,
      ),
    ).toEqual([
      ['Decimal 15000.5000000000000000001', 'Decimal 123456789012345678901234567890', 'str 15000.50'],
    ]);
  });

  it('as a module checks what a first service hands on: the signed text and its signature', () => {
    const { body } = signedDelivery(eventBody('event.buy.credited.crypto'), { credentials });
    const { text, value } = verifyBody(body, { key: 'sk_merchant_newsk_partner_old' });
    const handed = JSON.stringify({ text, signature: value.signature });
    const program = `handed = json.loads(sys.argv[1])
for text, signature in [(handed["text"], handed["signature"]), (handed["text"] + " ", handed["signature"]),
                        (handed["text"], handed["signature"].upper()), (handed["text"], None), ("\\ud800", "\\ud800")]:
    event = check(text, signature, "sk_merchant_newsk_partner_old")
    print(json.dumps(event and event["partner_order_id"]))`;
    const { partner_order_id } = eventBody('event.buy.credited.crypto');
    expect(withModule(program, handed)).toEqual([partner_order_id, null, null, null, null]);
  });

  it('is what wrote the vectors: the script gives the same file again', () => {
    const target = join(folder, 'signatures.json');
    const script = fileURLToPath(new URL('../../vectors/make-conformance.py', import.meta.url));
    const { stderr } = spawnSync('python3', [script, target], { encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(readFileSync(target).equals(readFileSync(vectorsFile))).toBe(true);
  });
});
