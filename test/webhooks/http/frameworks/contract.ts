import { describe, expect, it, onTestFinished } from 'vitest';
import type { Webhooks } from '../../../../src/webhooks/create-webhooks.ts';
import { buyInitBody } from '../../../support/bodies.ts';
import { delivery, quietWebhooks } from '../../deliveries.ts';
import { send } from '../server.ts';
import type { Mounted } from './mount.ts';

const sent = delivery(buyInitBody({ note: 'é😀' }));
const headers = { 'content-type': 'application/json' };

/** A body of more than 2000 bytes, of which a test says that it is too large. */
const large = delivery(buyInitBody({ filler: 'x'.repeat(2000) }));

/** What every way of mounting the webhooks has to do. The tests of `node` and `fetch` show the rest. */
export function describeFramework(name: string, mount: (webhooks: Webhooks) => Promise<Mounted>): void {
  describe(name, () => {
    it('answers each kind of request, and handles what is authentic once', async () => {
      const handled: unknown[] = [];
      let failures = 1;
      const webhooks = quietWebhooks({ maxBodyBytes: 2000 }).onAny((event) => {
        if (failures-- > 0) throw new Error('the database is at 10.0.0.7');
        handled.push(event);
      });
      const { port, close } = await mount(webhooks);
      onTestFinished(close);
      const chunks = [Buffer.from(large).subarray(0, 900), Buffer.from(large).subarray(900)];
      const answers = [];
      for (const body of [sent, sent, sent, sent.replace('A-1001', 'A-1002'), large, chunks]) {
        const { status, body: answer } = await send(port, { headers, body });
        answers.push([status, JSON.parse(answer)]);
      }
      expect(answers).toEqual([
        [500, { error: 'handler_failed' }],
        [200, { received: true }],
        [200, { received: true }],
        [401, { error: 'signature_mismatch' }],
        [413, { error: 'body_too_large' }],
        [413, { error: 'body_too_large' }],
      ]);
      expect(handled).toMatchObject([{ event_name: 'event.buy.init', note: 'é😀' }]);
      for (const method of ['GET', 'PUT'])
        expect((await send(port, { method, headers })).status, method).toBe(405);
    });

    it('answers an event whose content type is another one by its bytes', async () => {
      const { port, close } = await mount(quietWebhooks().onAny(() => {}));
      onTestFinished(close);
      const answer = await send(port, { headers: { 'content-type': 'text/plain' }, body: sent });
      expect([answer.status, answer.headers['content-type'], answer.headers['cache-control']]).toEqual([
        ...[200, 'application/json', 'no-store'],
      ]);
    });
  });
}
