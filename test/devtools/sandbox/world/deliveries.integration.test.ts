import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../../../src/devtools/sandbox/create-sandbox.ts';
import { isValidationError } from '../../../../src/errors/errors.ts';
import { startServer } from '../../../support/local-server.ts';
import { nextTurn } from '../../../support/next-turn.ts';
import { callbackUrl, onboarded, order, place } from '../support.ts';

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

  it('is not posted again once the sandbox is closed', async () => {
    const answered = Promise.withResolvers<Response>();
    const texts: string[] = [];
    const sandbox = createSandbox({
      callbackRetry: { maxAttempts: 5, firstDelayMs: 1 },
      fetch: async (_, init) => {
        texts.push(String(init?.body));
        return answered.promise;
      },
    });
    await place(sandbox, await onboarded(sandbox));
    while (texts.length === 0) await nextTurn();
    const closed = sandbox.close();
    answered.resolve(new Response(null, { status: 500 }));
    await closed;
    expect(sandbox.clock.nextAt).toBeUndefined();
    expect(texts).toHaveLength(1);
  });

  it('is traced with the answer of the partner, up to 64 KiB and as long as the time limit', async () => {
    const answers = [
      () => new Response('refused', { status: 401 }),
      () => new Response('x'.repeat(64 * 1024 + 1)),
      () => new Response(new ReadableStream()),
    ];
    // The last one does not heed its signal.
    const fetch = async () => answers.shift()?.() ?? new Promise<Response>(() => {});
    // real time: nothing ends before it: a busy machine only makes it later.
    const sandbox = createSandbox({ fetch, callbackTimeoutMs: 20 });
    await place(sandbox, await onboarded(sandbox));
    await sandbox.advance('A-1', 'fiat_received');
    await sandbox.advance('A-1', 'credited');
    expect(await sandbox.redeliver('delivery-3')).toMatchObject({ status: undefined, error: 'TimeoutError' });
    const traced = sandbox.trace.entries.filter(({ kind }) => kind === 'event_reply');
    expect(traced.map(({ status, body }) => [status, body])).toEqual([
      [401, 'refused'],
      [200, undefined],
      [200, undefined],
      [undefined, undefined],
    ]);
    expect(sandbox.deliveries.map(({ acknowledged }) => acknowledged)).toEqual([false, true, false]);
  });

  it('is forgotten when there are more than are remembered', async () => {
    const sandbox = createSandbox({ fetch: async () => new Response(), maxRemembered: 2 });
    await place(sandbox, await onboarded(sandbox));
    await sandbox.play('A-1', 'kyc_then_credited');
    expect(sandbox.deliveries.map(({ id }) => id)).toEqual(['delivery-3', 'delivery-4']);
    await expect(sandbox.redeliver('delivery-1')).rejects.toSatisfy(isValidationError);
    expect(sandbox.trace.entries).toHaveLength(2);
  });

  it('is repeated with pauses that double up to the longest, and not once it was received', async () => {
    const times: number[] = [];
    const statuses = [500, 500, 500, 500, 204];
    const sandbox = createSandbox({
      clock: 'manual',
      now: () => 0,
      callbackRetry: { maxAttempts: 9, firstDelayMs: 1000, maxDelayMs: 3000 },
      fetch: async () => {
        times.push(sandbox.clock.now());
        return new Response(null, { status: statuses.shift() ?? 500 });
      },
    });
    await place(sandbox, await onboarded(sandbox));
    await sandbox.idle();
    await sandbox.clock.drain();
    expect(times).toEqual([0, 1000, 3000, 6000, 9000]);
    expect(sandbox.deliveries).toMatchObject([{ attempts: 5, acknowledged: true }]);
  });

  it('is not repeated for a duplicate that was refused after it was received', async () => {
    const statuses = [200, 503];
    const sandbox = createSandbox({
      clock: 'manual',
      callbackRetry: { maxAttempts: 3 },
      fetch: async () => new Response(null, { status: statuses.shift() ?? 200 }),
    });
    const credentials = await onboarded(sandbox);
    sandbox.faults.plan('event', 'duplicate');
    await place(sandbox, credentials);
    await sandbox.idle();
    expect(sandbox.clock.nextAt).toBeUndefined();
  });

  it('to a closed port says so, and to a redirect is not acknowledged', async () => {
    const headers = { location: '/elsewhere', connection: 'close' };
    const partnerSide = await startServer({ status: 302, headers });
    const sandbox = createSandbox();
    const credentials = await onboarded(sandbox);
    await place(sandbox, credentials, { ...order, partner_callback_url: partnerSide.url });
    await sandbox.idle();
    partnerSide.stopListening();
    expect(partnerSide.requests.map(({ url }) => url)).toEqual(['/']);
    expect(sandbox.deliveries[0]).toMatchObject({ acknowledged: false, status: 302 });
    const again = await sandbox.redeliver(sandbox.deliveries[0]?.id ?? '');
    expect(again).toMatchObject({ status: undefined, error: 'ECONNREFUSED', attempts: 2 });
  });
});
