import { signBody, signingKey } from 'partner-exchange-sdk/signature';
import { createWebhooks, lambdaHandler } from 'partner-exchange-sdk/webhooks';
import { buyInitBody } from '../../support/bodies.ts';
import { type Checks, equal } from './checks.ts';

const credentials = {
  partnerPublicKey: 'pk_partner_run',
  partnerSecretKey: 'sk_partner_run',
  merchantSecretKey: 'sk_merchant_run',
};
const url = 'https://partner.example/orders';

export async function checkReceiver(checks: Checks): Promise<void> {
  const { signature: _, ...event } = buyInitBody({ note: 'é😀' });
  const { text } = signBody(event, { key: signingKey(credentials, 'order') });
  const bytes = new TextEncoder().encode(text);
  const forged = text.replace('A-1001', 'A-1002');

  for (const [form, body] of [['text', text] as const, ['bytes', bytes] as const]) {
    await checks.run(`receive handles ${form} once, and refuses a forgery`, async () => {
      const { webhooks, notes } = receiver();
      equal((await webhooks.receive(body)).kind, 'handled');
      equal((await webhooks.receive(body)).kind, 'duplicate');
      equal((await webhooks.receive(forged)).status, 401);
      equal(notes, ['é😀']);
    });
  }

  const post = (body: BodyInit, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
    new Request(url, { method: 'POST', headers, body });
  const answers: [name: string, request: () => Request, status: number, body: object | undefined][] = [
    ['an authentic event', () => post(text), 200, { received: true }],
    ['the same in bytes', () => post(bytes), 200, { received: true }],
    ['a forgery', () => post(forged), 401, { error: 'signature_mismatch' }],
    ['no JSON', () => post('hello'), 400, { error: 'body_not_json' }],
    [
      'another media type',
      () => post(text, { 'content-type': 'text/plain' }),
      415,
      { error: 'unsupported_media_type' },
    ],
    ['a body that is too large', () => post(' '.repeat(3000)), 413, { error: 'body_too_large' }],
    ['GET', () => new Request(url), 405, { error: 'method_not_allowed' }],
    ['HEAD', () => new Request(url, { method: 'HEAD' }), 405, undefined],
  ];
  for (const [name, request, status, body] of answers) {
    await checks.run(`fetch answers ${name} with ${status}`, async () => {
      const response = await receiver().webhooks.fetch(request());
      equal(response.status, status);
      const answered = await response.text();
      equal(answered === '' ? undefined : JSON.parse(answered), body);
    });
  }

  await checks.run('fetch puts a body together that was cut inside a character', async () => {
    const { webhooks, notes } = receiver();
    const cut = bytes.findIndex((byte) => byte > 0xf0) + 2;
    equal((await webhooks.fetch(streamed([bytes.subarray(0, cut), bytes.subarray(cut)]))).status, 200);
    equal(notes, ['é😀']);
  });
  await checks.run('fetch gives up on a body that does not arrive', async () => {
    const response = await receiver().webhooks.fetch(streamed([bytes.subarray(0, 100)], 'and no more'));
    equal([response.status, await response.json()], [408, { error: 'body_timeout' }]);
  });
  await checks.run('a handler that fails is answered with 500, and its repetition handled', async () => {
    let failing = true;
    const webhooks = createWebhooks({ credentials, onError: () => {} }).onAny(() => {
      if (failing) throw new Error('down');
    });
    equal((await webhooks.receive(text)).status, 500);
    failing = false;
    equal((await webhooks.receive(text)).kind, 'handled');
  });
  await checks.run('the amount is there exactly as it was written', async () => {
    const amounts: unknown[] = [];
    const webhooks = createWebhooks({ credentials }).onAny((_event, { decimal }) => {
      amounts.push(decimal('fiat_amount_to_pay'));
    });
    await webhooks.receive(text);
    equal(amounts, ['15000.5']);
  });
  await checks.run('lambdaHandler takes a base64 body', async () => {
    const answer = await lambdaHandler(receiver().webhooks)({
      requestContext: { http: { method: 'POST' } },
      headers: {},
      body: btoa(String.fromCharCode(...bytes)),
      isBase64Encoded: true,
    });
    equal(answer.statusCode, 200);
  });
}

function receiver() {
  const notes: unknown[] = [];
  const webhooks = createWebhooks({ credentials, maxBodyBytes: 2000, bodyTimeoutMs: 200 }).on(
    'event.buy.init',
    (event) => {
      notes.push(event.note);
    },
  );
  return { webhooks, notes };
}

/** Ends after the chunks, or stays open. */
function streamed(chunks: readonly Uint8Array[], then: 'end' | 'and no more' = 'end'): Request {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      if (then === 'end') controller.close();
    },
  });
  const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, duplex: 'half' };
  return new Request(url, init);
}
