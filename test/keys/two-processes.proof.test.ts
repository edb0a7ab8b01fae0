import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createKeyRotation } from '../../src/keys/create-key-rotation.ts';
import { storedKeys } from '../../src/keys/stored-keys.ts';
import { sqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { generation } from '../credentials/keys.ts';
import { buyInitBody, hmacHex, signedText } from '../support/bodies.ts';
import { startSnippet } from '../support/doc-snippets.ts';
import { freePort } from '../support/free-port.ts';
import { listening } from '../support/listening.ts';
import { scratchFolder } from '../support/scratch.ts';

const events = 250;

let folder: string;
beforeEach(() => {
  folder = scratchFolder();
});

/** The snippet of the guide that holds a text, with other texts put in, as a process. */
function startSnippetOf(mark: string, replaced: Readonly<Record<string, string>>): ChildProcess {
  return startSnippet({ page: 'docs/guides/keys.md', mark, folder, replaced });
}

const openKeys = () => storedKeys({ store: sqliteStore({ path: join(folder, 'keys.sqlite') }) });
const written = () => ({ "'/var/lib/shop/keys.sqlite'": JSON.stringify(join(folder, 'keys.sqlite')) });

describe('both programs of keys.md', () => {
  it('lose none of 250 events of a whole rotation, for a sender that repeats 5xx', async () => {
    await createKeyRotation({ storage: openKeys() }).receive(generation(1));
    const handled: string[] = [];
    const answers: number[] = [];
    const port = await freePort();
    const receiver = startSnippetOf('createKeyRing({ load: credentials })', {
      3000: `${port}, '127.0.0.1'`,
      ...written(),
      'load: credentials': 'load: credentials, cooldownMs: 1000',
    });
    createInterface({ input: receiver.stdout ?? expect.unreachable() }).on('line', (line) => {
      handled.push(line.split(' ')[0] ?? '');
    });

    /** The keys that the service signs with: the new ones from the request on. */
    let signing = '1';
    const server = createServer((request, response) => {
      if (request.method === 'POST') signing = '2';
      response.end('{}');
    });
    onTestFinished(() => void server.close());
    const serviceUrl = await listening(server);

    const post = async (body: string): Promise<number> => {
      const headers = { 'content-type': 'application/json' };
      try {
        const url = `http://127.0.0.1:${port}/orders`;
        const { status } = await fetch(url, { method: 'POST', headers, body });
        answers.push(status);
        return status;
      } catch {
        // It does not listen yet.
        return 502;
      }
    };
    /** Sends a body until it is answered with something else than 5xx, as a service does that does not lose events. */
    const deliver = async (body: string): Promise<number> => {
      for (;;) {
        const status = await post(body);
        if (status < 500) return status;
        // real time: the service comes again a little later.
        await wait(100);
      }
    };
    const eventOf = (id: string, name: string) => {
      const { signature: _, ...members } = buyInitBody({ partner_order_id: id });
      const text = JSON.stringify(members);
      return signedText(text, hmacHex(text, `sk_merchant_${name}sk_partner_${name}`));
    };

    expect(await deliver(eventOf('E-first', '1'))).toBe(200);
    const deliveries: Promise<number>[] = [];
    const forgeries: Promise<number>[] = [];
    const signedWith = new Set<string>();
    const sendSome = async (count: number, isOver: () => boolean) => {
      for (let sent = 0; sent < count || !isOver(); sent++) {
        // Some are left for the new keys, however slow the machine is.
        if (deliveries.length < (signing === '1' ? events - 50 : events)) {
          signedWith.add(signing);
          deliveries.push(deliver(eventOf(`E-${deliveries.length}`, signing)));
        }
        // So that a ring with a cool-down has one at any time.
        if (sent % 20 === 0) forgeries.push(post(eventOf(`F-${sent}`, 'forged')));
        // real time: the pace of the service.
        await wait(4);
      }
    };
    await sendSome(50, () => true);
    const taker = startSnippetOf('rotation.request(', {
      "'https://onboarding.example'": `'${serviceUrl}'`,
      ...written(),
    });
    // The person who opens the link takes a while.
    taker.stdout?.once('data', async () => {
      // real time: events come meanwhile; how many does not matter.
      await wait(400);
      taker.stdin?.write(`${JSON.stringify(generation(2))}\n`);
    });
    const ended = once(taker, 'exit');
    await sendSome(50, () => taker.exitCode !== null);
    expect(await ended).toEqual([0, null]);
    await sendSome(events - deliveries.length, () => true);

    const statuses = await Promise.all(deliveries);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    const expected = ['E-first', ...Array.from({ length: events }, (_, index) => `E-${index}`)];
    await expect.poll(() => new Set(handled).size, { timeout: 5_000 }).toBe(expected.length);
    expect(handled.toSorted()).toEqual(expected.toSorted());
    // It was a whole rotation, and events came under new keys before they were here.
    expect(signedWith).toEqual(new Set(['1', '2']));
    expect(answers).toContain(503);
    const { signing: last } = await createKeyRotation({ storage: openKeys() }).credentials();
    expect(last.partnerPublicKey).toBe('pk_partner_2');
    expect((await Promise.all(forgeries)).filter((status) => status !== 401 && status !== 503)).toEqual([]);
  }, 60_000);
});
