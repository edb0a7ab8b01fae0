import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { eventBody } from '../../src/devtools/testing/event-body.ts';
import { signedDelivery } from '../../src/devtools/testing/signed-delivery.ts';
import { root } from '../../tools/checks/entries.ts';
import { type SnippetRun, startSnippet } from '../support/doc-snippets.ts';
import { isThorough } from '../support/repeat.ts';
import { scratchFolder } from '../support/scratch.ts';

export const credentials = {
  partnerPublicKey: 'pk_partner_test',
  partnerSecretKey: 'sk_partner_test',
  merchantSecretKey: 'sk_merchant_test',
};
export const credentialVariables = {
  PARTNER_PUBLIC_KEY: credentials.partnerPublicKey,
  PARTNER_SECRET_KEY: credentials.partnerSecretKey,
  MERCHANT_SECRET_KEY: credentials.merchantSecretKey,
};
/** Has a program listen on a free port, and print it. */
export const listensAnywhere = {
  'listen(3000)': "listen(0, '127.0.0.1', function () { console.log(this.address().port); })",
};
/** How long an engine is away. */
export const awayMs = isThorough ? 10_000 : 2_500;
export const isInCi = process.env.CI === 'true' || process.env.CI === '1';

/** A printed program that can be killed and started again, and a service that posts each event until it is told 200. */
export function serveProgram(run: Omit<SnippetRun, 'folder' | 'stderr'>) {
  const folder = scratchFolder();
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const running = new Set<ChildProcess>();
  const lines: string[] = [];
  let [posted, port, printed] = [0, '', ''];

  const nextDelivery = (members: object = {}) =>
    signedDelivery(
      { ...eventBody('event.buy.credited.crypto', { partner_order_id: `A-${++posted}` }), ...members },
      { credentials },
    );

  async function postOnce({ headers, body } = nextDelivery()): Promise<number | undefined> {
    const request = { method: 'POST', headers, body };
    const reply = await fetch(`http://127.0.0.1:${port}/orders`, request).catch(() => undefined);
    await reply?.arrayBuffer();
    return reply?.status;
  }

  async function postOne(delivery: ReturnType<typeof nextDelivery>): Promise<void> {
    for (let tries = 0; tries < 240; tries++) {
      if ((await postOnce(delivery)) === 200) return;
      if (running.size === 0) expect.unreachable(`the program ended: ${printed.slice(-3_000)}`);
      // real time: the service comes again a little later, and is not to look like a busy loop.
      await sleep(500);
    }
    expect.unreachable(`never answered 200: ${printed.slice(-3_000)}`);
  }

  return {
    folder,
    /** What it has printed besides its port. */
    lines,
    postOnce: () => postOnce(),
    /** @param times how often each of them comes */
    async post(count: number, members: object = {}, times = 1): Promise<void> {
      const deliveries = Array.from({ length: count }, () => nextDelivery(members));
      await Promise.all(Array.from({ length: times }, () => deliveries.map(postOne)).flat());
    },
    /** What the program answers to a GET. */
    get: async () => await (await fetch(`http://127.0.0.1:${port}/`)).json(),
    async start() {
      const child = startSnippet({ ...run, folder, stderr: 'pipe' });
      running.add(child);
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
      });
      const exit = once(child, 'exit').then(() => void running.delete(child));
      const { promise: listens, resolve } = Promise.withResolvers<void>();
      createInterface({ input: child.stdout ?? expect.unreachable() }).on('line', (line) => {
        // Deliveries that were kept may be handled before it listens.
        if (!/^\d+$/.test(line)) return lines.push(line);
        port = line;
        return resolve();
      });
      // A delivery can kill it before it listens.
      await Promise.race([listens, exit]);
      const kill = async () => {
        child.kill('SIGKILL');
        await exit;
      };
      onTestFinished(kill);
      return { kill, pid: child.pid ?? expect.unreachable(), ended: () => exit };
    },
  };
}
