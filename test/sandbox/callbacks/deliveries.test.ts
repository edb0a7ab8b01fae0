import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { isValidationError } from '../../../src/errors/validation-error.ts';
import { createSandbox } from '../../../src/sandbox/create-sandbox.ts';
import { callback, callbackUrl, onboarded, order, place } from '../support.ts';

describe('a delivery', () => {
  it('does not hold up the reply to the order', async () => {
    const answered = Promise.withResolvers<Response>();
    const sandbox = createSandbox({ fetch: () => answered.promise });
    expect((await place(sandbox, await onboarded(sandbox))).status).toBe(200);
    expect(sandbox.deliveries).toMatchObject([{ name: 'event.buy.init', attempts: 0, status: undefined }]);
    answered.resolve(new Response());
    await sandbox.idle();
    expect(sandbox.deliveries).toMatchObject([{ attempts: 1, acknowledged: true, status: 200 }]);
  });

  it('waits for the earlier ones of its order, not for those of others', async () => {
    const first = Promise.withResolvers<Response>();
    const names: string[] = [];
    const sandbox = createSandbox({
      fetch: async (_, init) => {
        const { partner_order_id, event_name } = JSON.parse(String(init?.body));
        names.push(`${partner_order_id} ${event_name}`);
        return names.length === 1 ? first.promise : new Response();
      },
    });
    const credentials = await onboarded(sandbox);
    await place(sandbox, credentials);
    const later = sandbox.advance('A-1', 'fiat_received');
    await place(sandbox, credentials, { ...order, partner_order_id: 'A-2' });
    await sandbox.advance('A-2', 'fiat_received');
    expect(names).toEqual(['A-1 event.buy.init', 'A-2 event.buy.init', 'A-2 event.buy.received.fiat']);
    first.resolve(new Response());
    await later;
    expect(names).toHaveLength(4);
  });

  it('that is refused is kept, and the same text goes out again on demand', async () => {
    let status = 503;
    const texts: string[] = [];
    const sandbox = createSandbox({
      fetch: async (_, init) => {
        texts.push(String(init?.body));
        return new Response(null, { status });
      },
    });
    await place(sandbox, await onboarded(sandbox));
    await sandbox.idle();
    const [delivery] = sandbox.deliveries;
    expect(delivery).toMatchObject({ acknowledged: false, status: 503, attempts: 1, url: callbackUrl });
    status = 204;
    expect(await sandbox.redeliver(delivery?.id ?? '')).toMatchObject({ acknowledged: true, attempts: 2 });
    expect(texts).toEqual([delivery?.body, delivery?.body]);
    expect(sandbox.deliveries).toHaveLength(1);
  });

  it('goes out twice at once when redelivered twice at once', async () => {
    const partnerSide = callback();
    const sandbox = createSandbox({ fetch: partnerSide.fetch });
    await place(sandbox, await onboarded(sandbox));
    await sandbox.idle();
    const id = sandbox.deliveries[0]?.id ?? '';
    await Promise.all([sandbox.redeliver(id), sandbox.redeliver(id)]);
    expect(sandbox.deliveries[0]?.attempts).toBe(3);
    expect(new Set(partnerSide.received.map(({ text }) => text)).size).toBe(1);
  });

  it('that does not exist cannot be redelivered', async () => {
    await expect(createSandbox().redeliver('delivery-1')).rejects.toSatisfy(isValidationError);
  });

  it('that nobody answers is given up in time, though the fetch does not heed its signal', async () => {
    const sandbox = createSandbox({ fetch: () => new Promise(() => {}), callbackTimeoutMs: 5 });
    await place(sandbox, await onboarded(sandbox));
    await sandbox.idle();
    expect(sandbox.deliveries[0]).toMatchObject({
      acknowledged: false,
      status: undefined,
      error: 'TimeoutError',
    });
  });

  it('to a closed port says so, and to a redirect is not acknowledged', async () => {
    const elsewhere: string[] = [];
    const server = createServer((request, response) => {
      elsewhere.push(request.url ?? '');
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const url = typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}/` : '';
    const sandbox = createSandbox();
    const credentials = await onboarded(sandbox);
    await place(sandbox, credentials, { ...order, partner_callback_url: url });
    await sandbox.idle();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    expect(elsewhere).toEqual(['/']);
    expect(sandbox.deliveries[0]).toMatchObject({ acknowledged: false, status: 302 });
    const again = await sandbox.redeliver(sandbox.deliveries[0]?.id ?? '');
    expect(again).toMatchObject({ status: undefined, error: 'ECONNREFUSED', attempts: 2 });
  });
});
