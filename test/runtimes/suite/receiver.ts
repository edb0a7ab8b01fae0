import { createWebhooks, lambdaHandler } from 'partner-exchange-sdk/webhooks';
import { type Checks, equal } from './checks.ts';
import { credentials, delivery } from './fixtures.ts';

/** What needs no HTTP. */
export async function checkReceiver(checks: Checks): Promise<void> {
  const text = delivery({ note: 'é😀' });
  const bytes = new TextEncoder().encode(text);
  const forged = text.replace('A-1001', 'A-1002');

  for (const [form, body] of [['text', text] as const, ['bytes', bytes] as const]) {
    await checks.run(`receive handles ${form} once, and refuses a forgery`, async () => {
      const notes: unknown[] = [];
      const webhooks = createWebhooks({ credentials }).on('event.buy.init', (_event, { body }) => {
        notes.push(body.note);
      });
      equal((await webhooks.receive(body)).kind, 'handled');
      equal((await webhooks.receive(body)).kind, 'duplicate');
      equal((await webhooks.receive(forged)).status, 401);
      equal(notes, ['é😀']);
    });
  }
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
  await checks.run('a function finds the credentials by the URL, and nobody is 401', async () => {
    const webhooks = createWebhooks({
      credentials: ({ url, headers }) =>
        url?.endsWith('/p7') && headers?.['x-a'] === 'b' ? { ...credentials, partnerId: 'P-7' } : undefined,
    }).onAny(() => {});
    const post = async (path: string) => {
      const headers = { 'content-type': 'application/json', 'X-A': 'b' };
      const request = new Request(`https://partner.example${path}`, { method: 'POST', headers, body: text });
      return (await webhooks.fetch(request)).status;
    };
    equal([await post('/p7'), await post('/p8')], [200, 401]);
  });
  await checks.run('lambdaHandler takes a base64 body', async () => {
    const answer = await lambdaHandler(createWebhooks({ credentials }).onAny(() => {}))({
      requestContext: { http: { method: 'POST' } },
      headers: {},
      body: btoa(String.fromCharCode(...bytes)),
      isBase64Encoded: true,
    });
    equal(answer.statusCode, 200);
  });
}
