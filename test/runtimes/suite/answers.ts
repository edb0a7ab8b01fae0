import { createWebhooks, type Webhooks } from 'partner-exchange-sdk/webhooks';
import { type Checks, equal } from './checks.ts';
import { credentials, delivery, sleep } from './fixtures.ts';
import type { Transport } from './platform.ts';

const text = delivery({ note: 'é😀' });
const bytes = new TextEncoder().encode(text);
const forged = text.replace('A-1001', 'A-1002');
const received = { received: true };

type Given = [name: string, request: RequestInit, status: number, body: object | undefined];
const answers: readonly Given[] = [
  ['an authentic event', { body: text }, 200, received],
  ['the same in bytes', { body: bytes }, 200, received],
  ['a forgery', { body: forged }, 401, { error: 'signature_mismatch' }],
  ['no JSON', { body: 'hello' }, 400, { error: 'body_not_json' }],
  ['no body', {}, 400, { error: 'body_not_json' }],
  ['another media type', { body: text, headers: { 'content-type': 'text/plain' } }, 200, received],
  [
    'an encoded body',
    { body: Uint8Array.of(0x1f, 0x8b, 0x08, 0x00), headers: { 'content-encoding': 'gzip' } },
    400,
    { error: 'body_not_utf8' },
  ],
  ['JSON that is called encoded', { body: text, headers: { 'content-encoding': 'utf-8' } }, 200, received],
  ['a body that is too large', { body: ' '.repeat(3000) }, 413, { error: 'body_too_large' }],
  ['GET', { method: 'GET' }, 405, { error: 'method_not_allowed' }],
];

/** What is answered to a request, by whatever handler of HTTP requests. */
export async function checkAnswers(
  checks: Checks,
  handler: string,
  open: (webhooks: Webhooks) => Promise<Transport>,
): Promise<void> {
  const run = (name: string, check: (to: Transport, notes: unknown[]) => Promise<void>) =>
    checks.run(`${handler}: ${name}`, async () => {
      const { webhooks, notes } = receiver();
      const transport = await open(webhooks);
      try {
        await check(transport, notes);
      } finally {
        await transport.close();
      }
    });

  for (const [name, init, status, body] of answers) {
    await run(`${name} is answered with ${status}`, async (to) => {
      const response = await to.send(post(to, init));
      equal(response.status, status);
      const answered = await response.text();
      equal(answered === '' ? undefined : JSON.parse(answered), body);
    });
  }
  await run('a repetition is acknowledged and not handled', async (to, notes) => {
    for (const body of [text, bytes]) equal((await to.send(post(to, { body }))).status, 200);
    equal(notes, ['é😀']);
  });
  await run('a body is put together that was cut inside a character', async (to, notes) => {
    const cut = bytes.findIndex((byte) => byte > 0xf0) + 2;
    const body = stream([bytes.subarray(0, cut), bytes.subarray(cut)], 'end');
    equal((await to.send(post(to, { body }))).status, 200);
    equal(notes, ['é😀']);
  });
  await run('a body that is too large is noticed without its length', async (to, notes) => {
    const body = stream(Array(4).fill(new Uint8Array(1000).fill(32)), 'end');
    equal((await to.send(post(to, { body }))).status, 413);
    equal(notes, []);
  });
  await run('a body that does not arrive is answered with 408', async (to, notes) => {
    const response = await to.send(post(to, { body: stream([bytes.subarray(0, 100)], 'and no more') }));
    equal([response.status, await response.json()], [408, { error: 'body_timeout' }]);
    equal(notes, []);
  });
  await run('a body that breaks off is not handled, and disturbs nobody', async (to, notes) => {
    const body = stream([bytes.subarray(0, 100)], 'break off');
    const broken = to.send(post(to, { body })).then(
      ({ status }) => status,
      () => 'none',
    );
    // 400 where somebody can still be told; there may be nobody, and then nothing is answered at all.
    // real time: where nobody is left to be told, no answer ever comes.
    equal([400, 'none'].includes(await Promise.race([broken, sleep(400).then(() => 'none' as const)])), true);
    equal((await to.send(post(to, { body: text }))).status, 200);
    equal(notes, ['é😀']);
  });
}

function receiver() {
  const notes: unknown[] = [];
  const webhooks = createWebhooks({ credentials, maxBodyBytes: 2000, bodyTimeoutMs: 1_000 }).on(
    'event.buy.init',
    (_event, { body }) => {
      notes.push(body.note);
    },
  );
  return { webhooks, notes };
}

function post({ url }: Transport, init: RequestInit): Request {
  const streamed: RequestInit & { duplex?: 'half' } =
    init.body instanceof ReadableStream ? { duplex: 'half' } : {};
  const headers = { 'content-type': 'application/json' };
  return new Request(url, { method: 'POST', headers, ...streamed, ...init });
}

function stream(chunks: readonly Uint8Array[], then: 'end' | 'and no more' | 'break off') {
  const left = [...chunks];
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = left.shift();
      if (next !== undefined) controller.enqueue(next);
      else if (then === 'end') controller.close();
      else if (then === 'break off') {
        // What came before is on its way first.
        // real time: the part before it is on its way first.
        await sleep(50);
        controller.error(new Error('broken off'));
      } else await new Promise(() => {});
    },
  });
}
