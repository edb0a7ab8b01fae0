import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { attackReceiver } from '../../src/devtools/diagnostics/attack/attack-receiver.ts';
import { createSandbox } from '../../src/devtools/sandbox/index.ts';
import { eventBody } from '../../src/devtools/testing/event-body.ts';
import {
  refusedDeliveries,
  type SignedDelivery,
  signedDelivery,
} from '../../src/devtools/testing/signed-delivery.ts';
import { sqliteInbox } from '../../src/inbox/sqlite/sqlite-inbox.ts';
import { root } from '../../tools/checks/entries.ts';
import { generation } from '../credentials/keys.ts';
import { partnerExchange } from '../devtools/cli/run-in-process.ts';
import { order } from '../devtools/cli/support.ts';
import { keepConnectionsBusy } from '../support/busy-connections.ts';
import { type SnippetRun, snippetsOf, startSnippet } from '../support/doc-snippets.ts';
import { scratchFolder } from '../support/scratch.ts';

let folder: string;
beforeEach(() => {
  folder = scratchFolder();
});

const credentials = {
  partnerPublicKey: 'pk_partner_test',
  partnerSecretKey: 'sk_partner_test',
  merchantSecretKey: 'sk_merchant_test',
};
const env = {
  PARTNER_PUBLIC_KEY: credentials.partnerPublicKey,
  PARTNER_SECRET_KEY: credentials.partnerSecretKey,
  MERCHANT_SECRET_KEY: credentials.merchantSecretKey,
};

/** Lines of a program, in the order in which it prints them. */
function linesOf({ stdout }: ChildProcess): AsyncIterator<string> {
  return createInterface({ input: stdout ?? expect.unreachable() })[Symbol.asyncIterator]();
}

/** The first program of a guide, as a server, with the address of its callback and what it prints. */
async function startReceiver(page: string, run: Partial<SnippetRun> = {}) {
  const child = startSnippet({
    page: `docs/guides/${page}`,
    folder,
    env,
    ...run,
    replaced: {
      'listen(3000)': "listen(0, '127.0.0.1', function () { console.log(this.address().port); })",
      ...run.replaced,
    },
  });
  const lines = linesOf(child);
  const next = async () => (await lines.next()).value;
  const port = await next();
  const post = async ({ headers, body }: SignedDelivery, path = '/orders') =>
    (await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body })).status;
  return { child, next, port, post };
}

describe('the first program of the guide', () => {
  it('receive-events credits once for several authentic texts about one credit, for no forgery, and ends on SIGTERM', async () => {
    const { child, next, post } = await startReceiver('receive-events.md');
    const bodyOf = (partner_order_id: string, crypto_payment_status: 'PAID' | 'Completed' = 'PAID') =>
      eventBody('event.buy.credited.crypto', { partner_order_id, crypto_payment_status });
    expect(await post(refusedDeliveries(bodyOf('A-1'), { credentials }).forged)).toBe(401);
    for (const body of [bodyOf('A-1'), bodyOf('A-1'), bodyOf('A-1', 'Completed'), bodyOf('A-2')])
      expect(await post(signedDelivery(body, { credentials }))).toBe(200);
    expect([await next(), await next()].toSorted()).toEqual(['credited A-1', 'credited A-2']);
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    expect(await next()).toBeUndefined();
    using shop = new DatabaseSync(join(folder, 'shop.sqlite'));
    expect(shop.prepare('SELECT count(*) AS credits FROM credited').get()).toMatchObject({ credits: 2 });
  });

  it.each(['receive-events.md', 'production.md', 'kyc-and-refund.md', 'move-from-own-code.md'])(
    '%s keeps authentic events in another shape, or answers 5xx to what nobody can read',
    async (page) => {
      const { child, port } = await startReceiver(page);
      child.stdout?.resume();
      const { results, findings } = await attackReceiver(`http://127.0.0.1:${port}/orders`, {
        credentials,
        only: ['authentic-unfamiliar'],
      });
      expect(findings).toEqual([]);
      const path = join(folder, 'inbox.sqlite');
      if (!existsSync(path)) {
        // Nothing is kept, so what nobody can read must come again.
        expect(results.map(({ answered }) => answered).join()).toContain('500');
        return;
      }
      const inbox = sqliteInbox({ path, role: 'receiver' });
      onTestFinished(async () => void (await inbox.stop()));
      // The plain one, and ten of other names or in another shape: what no handler takes is open.
      await vi.waitFor(async () => {
        const { open, dead } = await inbox.counts();
        expect([open + dead, dead > 2]).toEqual([11, true]);
      });
    },
  );

  it.each(['receive-events.md', 'production.md'])(
    '%s ends on SIGTERM behind busy connections, answers 200 to all that it takes, and logs one line at most',
    async (page) => {
      const { child, port } = await startReceiver(page, { stderr: 'pipe' });
      let logged = '';
      child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
        logged += piece;
      });
      child.stdout?.resume();
      let made = 0;
      const next = () => {
        const body = eventBody('event.buy.credited.crypto', { partner_order_id: `A-${++made}` });
        return signedDelivery(body, { credentials }).body;
      };
      const load = keepConnectionsBusy(Number(port), { connections: 20, next });
      await vi.waitFor(() => expect(load.taken()).toBe(20), { timeout: 30_000 });
      const ended = once(child, 'exit', { signal: AbortSignal.timeout(8_000) });
      child.kill('SIGTERM');
      expect(await ended).toEqual([0, null]);
      await load.ended;
      expect([...load.statuses.keys()]).toEqual([200]);
      expect(logged.split('\n').length).toBeLessThanOrEqual(2);
      expect(load.broken()).toBe(0);
    },
  );

  it('kyc-and-refund tells the KYC errors in both spellings, the credit and the refund apart', async () => {
    const { next, post } = await startReceiver('kyc-and-refund.md');
    const kycError = (kyc_error_type: 'NO_KYC' | 'THIRD_PARTY_PAYMENT' | 'THIRD_PARTY_ERROR') =>
      eventBody('event.buy.received.fiat_kyc_error', {
        kyc_error_type,
        default_kyc_url: 'https://kyc.example/',
        sender_name: 'Zoë',
      });
    const bodies = [
      ...[kycError('NO_KYC'), kycError('THIRD_PARTY_PAYMENT'), kycError('THIRD_PARTY_ERROR')],
      eventBody('event.buy.third_party_error'),
      eventBody('event.buy.credited.crypto', { crypto_txn_hash: 'abc' }),
      eventBody('buy.event.close', {
        meta_data: { amount_refunded: '14900.50', refund_account: '0123', fee: 100 },
      }),
    ];
    const printed: unknown[] = [];
    for (const body of bodies) {
      expect(await post(signedDelivery({ ...body, partner_order_id: 'A-1' }, { credentials }))).toBe(200);
      printed.push(await next());
    }
    expect(printed).toEqual([
      'A-1 send the buyer to https://kyc.example/',
      'A-1 was paid from the account of Zoë',
      'A-1 was paid from the account of Zoë',
      'A-1 was paid by a third party',
      'A-1 is credited by abc',
      'A-1 refunded 14900.50 NGN to 0123 fee 100',
    ]);
  });

  it('keys accepts an event at the path of the partner that signed it, and at no other', async () => {
    const { next, post } = await startReceiver('keys.md', { mark: 'platform.mts' });
    const body = eventBody('event.buy.init', { partner_order_id: 'A-1' });
    const delivery = signedDelivery(body, { credentials: generation('P-1') });
    expect(await post(delivery, '/orders/P-2')).toBe(401);
    expect(await post(delivery, '/orders/P-3')).toBe(401);
    expect(await post(delivery, '/orders/P-1')).toBe(200);
    expect(await next()).toBe('A-1 signed by P-1');
    // A callback URL may have a query.
    expect(await post(delivery, '/orders/P-1?source=shop')).toBe(200);
  });

  it('move-from-own-code acts on a credited order, and refuses what own code would have taken', async () => {
    const { next, post } = await startReceiver('move-from-own-code.md');
    const body = eventBody('event.buy.credited.crypto', { partner_order_id: 'A-1' });
    const delivery = signedDelivery(body, { credentials });
    const twice = { ...delivery, body: delivery.body.replace('{', '{"signature":"",') };
    expect(await post(twice)).toBe(401);
    expect(await post(delivery)).toBe(200);
    expect(await next()).toBe('credited A-1');
  });

  it('production shows on a port of its own what the receiver did', async () => {
    const { next, post } = await startReceiver('production.md', {
      replaced: {
        "listen(9464, '127.0.0.1')":
          "listen(0, '127.0.0.1', function () { console.log(this.address().port); })",
      },
    });
    const port = await next();
    const body = eventBody('event.buy.credited.crypto', { partner_order_id: 'A-1' });
    expect(await post(signedDelivery(body, { credentials }))).toBe(200);
    expect(await post(refusedDeliveries(body, { credentials }).forged)).toBe(401);
    expect(await next()).toBe('credited A-1');
    const figures = async () => await (await fetch(`http://127.0.0.1:${port}`)).json();
    await expect
      .poll(figures)
      .toEqual({ open: 0, dead: 0, 'receive stored': 1, 'receive refused': 1, 'handle handled': 1 });
  });

  it('learn learns the scheme of a captured event', async () => {
    const { body } = signedDelivery(eventBody('event.buy.init'), { credentials });
    writeFileSync(join(folder, 'captured-event.json'), body);
    expect((await run('learn.md', { env }))[0]).toBe('signature-construction proven "hmac"');
    expect(JSON.parse(readFileSync(join(folder, 'deployment.json'), 'utf8'))).toMatchObject({
      format: 'partner-exchange-deployment/1',
      overrides: [],
    });
  });

  it('create-orders sends an order once whose reply is lost, and settles it with its event', async () => {
    let port: unknown;
    const sandbox = createSandbox({
      whitelist: 'off',
      partners: [{ credentials: { ...credentials, partnerCode: 'acme' } }],
      fetch: (_, init) => fetch(`http://127.0.0.1:${port}/orders`, init),
    });
    const service = await sandbox.listen();
    onTestFinished(service.close);
    const withService = {
      env: { ...env, PARTNER_EXCHANGE_ONBOARDING_BASE_URL: service.deployment.onboardingBaseUrl },
    };
    sandbox.faults.plan('createOrder', 'reply_lost');
    sandbox.faults.plan('event.buy.init', 'drop');
    const first = await startReceiver('create-orders.md', withService);
    expect(await first.next()).toMatch(/^unknown: createOrder/);
    ({ port } = first);
    const delivery = await sandbox.advance('A-1003', 'fiat_received');
    expect(delivery.status).toBe(200);
    first.child.kill();
    const second = await startReceiver('create-orders.md', withService);
    expect(await second.next()).toBe('accepted');
    expect(sandbox.orders).toHaveLength(1);
  });

  it('one-time-codes pairs a device; with its key a code is right once, and a text goes to each number once', async () => {
    const sandbox = createSandbox();
    const service = await sandbox.listen();
    onTestFinished(service.close);
    const { messengerBaseUrl } = service.deployment;
    const ofMessenger = { PARTNER_EXCHANGE_MESSENGER_BASE_URL: messengerBaseUrl };
    const masterEnv = { ...ofMessenger, MESSENGER_MASTER_KEY: sandbox.masterKey };
    expect(await run('one-time-codes.md', { env: masterEnv, mark: 'pair-device.mts' })).toEqual([
      'paired true',
    ]);
    const file = join(folder, 'device-1002.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { api_key } = JSON.parse(readFileSync(file, 'utf8'));
    const deviceEnv = { ...ofMessenger, MESSENGER_API_KEY: api_key, OTP_SECRET: 'x'.repeat(32) };

    const codes = startSnippet({ page: 'docs/guides/one-time-codes.md', folder, env: deviceEnv });
    const lines = linesOf(codes);
    expect(await lines.next()).toMatchObject({ value: 'message: sent' });
    const [code = ''] = /\d{6}/.exec(sandbox.messages.at(-1)?.message ?? '') ?? [];
    const wrong = code === '000000' ? '000001' : '000000';
    // A blank line costs no attempt.
    codes.stdin?.write(`\n  \n${wrong}\n`);
    for (const left of [5, 5, 4])
      expect(await lines.next()).toMatchObject({ value: `wrong tries left: ${left}` });
    codes.stdin?.write(`${code}\n`);
    expect(await lines.next()).toMatchObject({ value: 'signed in: +2348012345678' });

    const [numbers = ''] = snippetsOf('docs/guides/send-to-many.md', 'text');
    writeFileSync(join(folder, 'numbers.txt'), numbers);
    const sent = numbers
      .trim()
      .split('\n')
      .map((number) => `${number} sent`);
    expect(await run('send-to-many.md', { env: deviceEnv })).toEqual(sent);
    expect(await run('send-to-many.md', { env: deviceEnv })).toEqual(sent);
    expect(sandbox.messages).toHaveLength(4);
  });

  it('invalid-input answers 400 with the member that is wrong, and 422 for a phone number, never 500', async () => {
    const sandbox = createSandbox({
      whitelist: 'off',
      partners: [{ credentials: { ...credentials, partnerCode: 'acme' } }],
    });
    const service = await sandbox.listen();
    onTestFinished(service.close);
    const { onboardingBaseUrl, messengerBaseUrl } = service.deployment;
    const { port, post } = await startReceiver('invalid-input.md', {
      env: {
        ...env,
        PARTNER_EXCHANGE_ONBOARDING_BASE_URL: onboardingBaseUrl,
        PARTNER_EXCHANGE_MESSENGER_BASE_URL: messengerBaseUrl,
        MESSENGER_API_KEY: 'key-of-a-device',
        OTP_SECRET: 'x'.repeat(32),
      },
    });
    const answerTo = async (path: string, input: object) => {
      const body = JSON.stringify(input);
      const reply = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body });
      return [reply.status, await reply.text()];
    };
    const issue = { path: ['fiat_amount'], message: expect.stringContaining('give it as text: "15000.50"') };
    const [status, body] = await answerTo('/orders', { ...order, fiat_amount: 15000.5 });
    expect([status, JSON.parse(String(body))]).toEqual([400, { error: 'invalid_input', issues: [issue] }]);
    expect(await answerTo('/orders', order)).toEqual([200, '{"status":200}']);
    for (const to_phone of ['0801 234 5678', 2348012345678, '+33612345678', undefined])
      expect(await answerTo('/codes', { to_phone })).toEqual([
        422,
        expect.stringContaining('check the phone'),
      ]);
    expect(await post({ headers: {}, body: 'null' } as SignedDelivery, '/orders')).toBe(400);
  });

  it('environment-files reads its .env', async () => {
    const [variables = ''] = snippetsOf('docs/guides/environment-files.md', 'dotenv');
    writeFileSync(join(folder, '.env'), variables);
    const flags = [`--env-file=${join(folder, '.env')}`];
    const printed = await run('environment-files.md', { flags });
    expect(printed).toEqual(['orders go to https://onboarding.example']);
  });

  it.each([
    ['sandbox.md', ['event.buy.init', 'event.buy.received.fiat', 'event.buy.credited.crypto']],
    ['test-your-integration.md', ['all is well']],
  ])('%s prints %j', async (page, printed) => {
    expect(await run(page)).toEqual(printed);
  });
});

describe('the commands of a guide', () => {
  const text = globSync('docs/guides/*.md', { cwd: root })
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .join('\n');
  const commands = [
    ...text.matchAll(
      /^(?:npx )?partner-exchange(?:-sdk)? (.+)$|`(?:npx )?partner-exchange(?:-sdk)? ([^`]+)`/gm,
    ),
  ].map(([, line, inText]) => line ?? inText ?? '');

  it('are commands that there are, with flags that they have', async () => {
    expect(commands.length).toBeGreaterThan(30);
    for (const command of new Set(commands)) {
      const words = command.split(' ');
      const { code, stdout } = await partnerExchange([...commandOf(words), '--help']);
      expect(code, command).toBe(0);
      const [, flags] = stdout.split('\nFLAGS\n');
      for (const flag of words.filter((word) => word.startsWith('--'))) {
        expect(flags, command).toMatch(new RegExp(`${flag}[\\] ]`));
      }
    }
  });

  /** Its name, which is two words for commands of a group. `sandbox` alone starts one. */
  function commandOf([first = '', second = '']: string[]): string[] {
    if (first === 'sandbox' && !/^[a-z]/.test(second)) return [first, 'start'];
    return ['keys', 'messenger', 'order', 'inbox', 'sandbox'].includes(first) ? [first, second] : [first];
  }
});

/** All lines of a program that ends by itself. */
async function run(page: string, options: Partial<SnippetRun> = {}): Promise<string[]> {
  const child = startSnippet({ page: `docs/guides/${page}`, folder, ...options });
  const ended = once(child, 'exit');
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout ?? expect.unreachable() })) lines.push(line);
  expect(await ended).toEqual([0, null]);
  return lines;
}
