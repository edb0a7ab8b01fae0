import { afterAll, describe, expect, it } from 'vitest';
import { buyInitBody } from '../support/bodies.ts';
import { delivery } from '../webhooks/deliveries.ts';
import { engines } from './engines.ts';
import { eventually, order, quick, receiver } from './receiver.ts';

const quiet = { onError: () => {} };

for (const engine of engines.filter(({ name }) =>
  ['sqlite', 'redis store', 'postgres store'].includes(name),
)) {
  const { missing } = engine;
  describe.runIf(missing === undefined)(`the ${engine.name} of an inbox`, () => {
    afterAll(() => engine.remove());

    it('holds nothing of a body, nor of a reason that quotes it, once it was handled, discarded or replayed', async () => {
      const store = await engine.open();
      const ids = ['handled', 'retried', 'discarded', 'replayed'].map((fate) => `marker-of-${fate}`);
      let isMended = false;
      let retries = 0;
      const inbox = store.inbox({ ...quick, maxAttempts: 2 });
      const { webhooks, reports } = receiver(
        inbox,
        (id) => {
          const fails = id.endsWith('retried') ? retries++ === 0 : !id.endsWith('handled') && !isMended;
          if (fails) throw new Error(`no such order: ${id} \0 \ud83d`);
        },
        quiet,
      );
      for (const id of ids) await webhooks.receive(order(id));
      // Of a name that PostgreSQL takes in no text.
      const odd = delivery(
        buyInitBody({ event_name: 'odd \0 \ud83d', partner_order_id: 'marker-of-unread' }),
      );
      expect(await webhooks.receive(odd)).toMatchObject({ kind: 'stored' });
      expect(await webhooks.receive(odd)).toMatchObject({ kind: 'duplicate' });
      await eventually(async () => expect(await inbox.counts()).toEqual({ open: 0, dead: 3 }));
      // What waits for a decision is kept.
      expect(await store.raw()).toContain('marker-of-discarded');
      isMended = true;
      for (const { digest, reason } of await inbox.deadLetters()) {
        expect(await (/discarded|unread/.test(reason) ? inbox.discard(digest) : inbox.replay(digest))).toBe(
          true,
        );
      }
      await eventually(async () => expect(await inbox.counts()).toEqual({ open: 0, dead: 0 }));
      await eventually(() => expect(reports.filter(({ outcome }) => outcome === 'handled')).toHaveLength(3));
      // With SQLite the last one empties the -wal.
      await inbox.stop();
      const raw = (await store.raw()) ?? '';
      expect(ids.filter((id) => raw.includes(id))).toEqual([]);
      expect(raw.match(/marker-of-.{20}/g)).toBeNull();
      await store.close();
    });
  });
}
