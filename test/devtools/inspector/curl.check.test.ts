import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createSandbox } from '../../../src/devtools/sandbox/create-sandbox.ts';
import { onboarded } from '../sandbox/support.ts';

const page = readFileSync(new URL('../../../docs/inspector.md', import.meta.url), 'utf8');
const hasCurl = spawnSync('curl', ['--version']).status === 0;

/** The lines of the docs, as a newcomer pastes them. Only the three values of the first block are one's own. */
const [settings = '', ...blocks] = [...page.matchAll(/^```bash\n([\s\S]*?)^```$/gm)].map(
  ([, code = '']) => code,
);

it.skipIf(!hasCurl && process.env.CI === undefined)(
  'a newcomer with curl alone onboards, creates an order and sees its events, by the lines of the docs',
  async () => {
    expect(settings.trim().split('\n')).toEqual([
      'SANDBOX=http://127.0.0.1:4010',
      'TOKEN=the-token-that-was-printed',
      'CALLBACK=http://127.0.0.1:4011/orders',
    ]);
    expect(blocks).toHaveLength(3);
    const posted: string[] = [];
    const sandbox = createSandbox({
      fetch: async (url, init) => {
        posted.push(`${url} ${String(init?.body).length > 100}`);
        return new Response('ok');
      },
    });
    const server = await sandbox.listen();
    // As the command line leaves it: with a partner of its own, whose link is used up.
    await onboarded(sandbox, sandbox, { partner_code: 'sandbox', email: 'partner@sandbox.example' });
    const own = settings
      .replace('http://127.0.0.1:4010', server.url)
      .replace('the-token-that-was-printed', server.token);
    // A line feed after each answer, and a stop at the first command that fails.
    const script = ['set -e', own, ...blocks].join('\n').replaceAll(/^curl -sS/gm, "curl -sS -f -w '\\n'");
    const answers = (await bash(script)).trim().split('\n');
    await server.close();

    expect(sandbox.order('A-1').state).toBe('fiat_received');
    expect(posted).toEqual(Array(3).fill('http://127.0.0.1:4011/orders true'));
    expect(answers).toHaveLength(6);
    const [mailed, whitelisted, created, advanced, forged, orders] = answers.map((each) => JSON.parse(each));
    expect(mailed.message).toContain('link');
    expect(whitelisted.ip).toBe('127.0.0.1');
    expect(created.partner_order_id).toBe('A-1');
    expect(advanced.deliveries).toMatchObject([{ name: 'event.buy.received.fiat', status: 200 }]);
    expect(forged).toMatchObject({ faults: ['forged'], status: 200 });
    expect(orders.items[0].deliveries.map(({ name }: { name: string }) => name)).toEqual([
      'event.buy.init',
      'event.buy.received.fiat',
      'event.buy.received.fiat',
    ]);
  },
);

function bash(script: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', script], { env: { PATH: process.env.PATH, no_proxy: '*' } });
    let [output, errors] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      errors += text;
    });
    child.on('close', (code) =>
      code === 0 ? resolve(output) : reject(new Error(`${code}: ${errors}${output}`)),
    );
  });
}
