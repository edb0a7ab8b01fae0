import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { scratchFolder } from '../../support/scratch.ts';
import { type Ended, partnerExchange, type RunOptions } from './run-in-process.ts';

export { scratchFolder };

/** Keys that are valid in form, and easy to find in any output. */
export const keys = {
  PARTNER_PUBLIC_KEY: 'pk_partner_visible',
  PARTNER_SECRET_KEY: 'sk_partner_hidden1',
  MERCHANT_SECRET_KEY: 'sk_merchant_hidden2',
} as const;

export const keysFile = {
  partnerPublicKey: keys.PARTNER_PUBLIC_KEY,
  partnerSecretKey: keys.PARTNER_SECRET_KEY,
  merchantSecretKey: keys.MERCHANT_SECRET_KEY,
};

/** A complete order. */
export const order = {
  partner_order_id: 'A-1',
  fiat_amount: '15000.50',
  fiat_currency: 'NGN',
  chain: 'usdt-trc20',
  buyer_crypto_address: 'TSiz1eNeburYggQaXXL9Kb3AQ3GDive7LP',
  partner_callback_url: 'https://partner.example/orders',
};

/** Writes files into a new folder. @returns its path */
export function filesIn(files: Readonly<Record<string, string | Uint8Array>>, mode = 0o600): string {
  const folder = scratchFolder();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content, { mode });
  return folder;
}

/** A command that runs until it is stopped. */
export interface Running {
  /** Resolves with what is printed once it matches. */
  printed(stream: 'stdout' | 'stderr', pattern: RegExp, count?: number): Promise<string>;
  /** Stops it as Ctrl-C does. */
  stop(): Promise<Ended>;
}

/** Starts a command in this process, and stops it when the test is over. */
export function start(
  args: readonly string[],
  options: Omit<RunOptions, 'signal' | 'onOutput'> = {},
): Running {
  const controller = new AbortController();
  let output = { stdout: '', stderr: '' };
  let waiting: (() => boolean)[] = [];
  const ended = partnerExchange(args, {
    ...options,
    signal: controller.signal,
    onOutput(all) {
      output = { ...all };
      waiting = waiting.filter((isDone) => !isDone());
    },
  });
  const stop = () => {
    controller.abort();
    return ended;
  };
  onTestFinished(async () => void (await stop()));
  return {
    stop,
    printed: (stream, pattern, count = 1) =>
      new Promise((resolve, reject) => {
        const isDone = () => {
          const found = output[stream].match(new RegExp(pattern, 'g'))?.length ?? 0;
          if (found >= count) resolve(output[stream]);
          return found >= count;
        };
        if (!isDone()) waiting.push(isDone);
        void ended.then(({ code, stderr }) => reject(new Error(`It ended with ${code}: ${stderr}`)));
      }),
  };
}

/** The address that a command said it listens at. */
export async function addressOf(running: Running): Promise<string> {
  const text = await running.printed('stderr', /http:\/\/\S+?:\d+/);
  return /http:\/\/\S+?:\d+/.exec(text)?.[0] ?? '';
}
