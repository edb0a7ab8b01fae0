import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ExchangeClient } from '../../../src/client/exchange-client.ts';
import { readEnvironment } from '../../../src/deployment/read-environment.ts';
import { createSandbox } from '../../../src/devtools/sandbox/create-sandbox.ts';
import { defaultScheme } from '../../../src/signature/signature-scheme.ts';
import { freePort } from '../../support/free-port.ts';
import { partnerExchange } from './run-in-process.ts';
import { filesIn, order, start } from './support.ts';

/** The commands of the page, in its order, as the reader types them. */
const commands = [
  ...(readFileSync(join(import.meta.dirname, '../../../docs/guides/going-live.md'), 'utf8')
    .split('```')[1]
    ?.matchAll(/^npx partner-exchange-sdk (.*)$/gm) ?? []),
].map(([, command = '']) => command);

const schemes = {
  'the default scheme': {},
  // listen cannot verify these: it keeps genuine events and forgeries alike.
  'another scheme': { signature: { ...defaultScheme, construction: 'hash-suffix' } },
} as const;

describe.each(Object.entries(schemes))('with %s', (_, scheme) => {
  it('every command of going-live works against the sandbox', { timeout: 60_000 }, async () => {
    const sandbox = createSandbox({ deployment: scheme });
    const server = await sandbox.listen();
    onTestFinished(() => server.close());
    const port = await freePort();
    const { onboardingBaseUrl, stagingUrl, messengerBaseUrl } = server.deployment;
    const env: Record<string, string> = {
      PARTNER_EXCHANGE_ONBOARDING_BASE_URL: onboardingBaseUrl ?? '',
      PARTNER_EXCHANGE_STAGING_URL: stagingUrl ?? '',
      PARTNER_EXCHANGE_MESSENGER_BASE_URL: messengerBaseUrl ?? '',
    };
    const callback = `http://127.0.0.1:${port}/orders`;
    const cwd = filesIn({ 'order.json': JSON.stringify({ ...order, partner_callback_url: callback }) });
    const options = { cwd, env, fetch, now: Date.now };
    let listening: ReturnType<typeof start> | undefined;
    const run = async (command: string) => {
      const args = command
        .replace('"$PARTNER_EXCHANGE_ONBOARDING_BASE_URL', `${onboardingBaseUrl}`)
        .replace('/"', '/')
        .split(' ');
      if (args[0] === 'listen') {
        const [, to = ''] = /--forward-to (\S+)/.exec(command) ?? [];
        // Ctrl-C in its terminal.
        await listening?.stop();
        listening = start(
          [...args.filter((arg) => arg !== '--forward-to' && arg !== to), '--port', String(port)],
          options,
        );
        await listening.printed('stderr', /Ctrl-C ends it/);
        return { code: 0, stdout: '', stderr: '' };
      }
      // Signed in another way it is refused: somebody makes it in the console of the service.
      if (args[0] === 'order' && 'signature' in scheme) {
        const { credentials } = readEnvironment(env);
        const { deployment } = server;
        await new ExchangeClient({ deployment, credentials }).createOrder({
          ...order,
          partner_callback_url: callback,
        });
        await listening?.printed('stdout', /event\.buy\.init/);
        return { code: 0, stdout: '', stderr: '' };
      }
      // What doctor posts, if it reaches the callback.
      if (command.includes('--callback')) await fetch(callback, { method: 'POST', body: '{}' });
      const ended = await partnerExchange(args[0] === 'order' ? [...args, '--yes'] : args, options);
      // The order is accepted before its first event is posted.
      if (args[0] === 'order') await listening?.printed('stdout', /event\.buy\.init/);
      return ended;
    };
    const codes: Record<string, string> = {};
    for (const command of commands) {
      const { code, stderr } = await run(command);
      if (command.includes('--write')) env.PARTNER_EXCHANGE_DEPLOYMENT = join(cwd, 'deployment.json');
      // The doctor judges this machine, too: its network may not find partner.example.
      const isExpected = code === 0 || (command.startsWith('doctor') && code === 1);
      codes[command] = isExpected ? 'works' : stderr;
      if (command.startsWith('onboard')) {
        const keys = sandbox.openLink(sandbox.emails[0]?.link ?? '');
        env.PARTNER_PUBLIC_KEY = keys.partnerPublicKey;
        env.PARTNER_SECRET_KEY = keys.partnerSecretKey;
        env.MERCHANT_SECRET_KEY = keys.merchantSecretKey ?? '';
      }
    }
    expect(codes).toEqual(Object.fromEntries(commands.map((command) => [command, 'works'])));
  });
});
