import { describe, expect, it } from 'vitest';
import { signingKey } from '../../src/credentials/signing-key.ts';
import { isOrderError } from '../../src/errors/errors.ts';
import { storeInbox } from '../../src/inbox/store/store-inbox.ts';
import { refusedEvent } from '../../src/orders/named-order.ts';
import { signBody } from '../../src/signature/sign-body.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { createWebhooks } from '../../src/webhooks/create-webhooks.ts';
import { buyCreditedBody } from '../support/bodies.ts';
import { bench, credentials } from './service.ts';

describe('an event that a handler refuses', () => {
  it('is a dead letter at the first attempt, and no later handler sees it', async () => {
    const { journal } = bench();
    const inbox = storeInbox({ store: memoryStore(), role: 'drain' });
    const paid: string[] = [];
    const webhooks = createWebhooks({ credentials, inbox, onError: () => {} })
      .on('event.buy.credited.crypto', ({ partner_order_id: id }) => paid.push(id))
      .onAny(async (event, context) => {
        const { result } = await journal.observe(event, context);
        if (result === 'unknown_order') throw refusedEvent(event, 'no order of this shop');
      });
    const { signature: _, ...unsigned } = buyCreditedBody();
    const { text } = signBody(unsigned, { key: signingKey(credentials, 'order') });
    expect(await webhooks.receive(text)).toMatchObject({ status: 200 });
    expect(await inbox.drain()).toMatchObject({ dead: 1 });
    const [letter] = await inbox.deadLetters();
    expect(letter).toMatchObject({ attempts: 1, reason: expect.stringContaining('no order of this shop') });
    expect(paid).toEqual([]);
  });

  it.each<[object, string, string]>([
    [buyCreditedBody(), 'A-1001', '"event.buy.credited.crypto"'],
    [
      { kind: 'unknown', name: 'event.new', body: { partner_order_id: 'A\n9', event_name: 'event.new' } },
      ...(['A\n9', '"event.new"'] as const),
    ],
    [{}, '', 'The authentic event of order ""'],
  ])('is named in the error, which holds nothing else of it: %#', (event, id, words) => {
    const error = refusedEvent(event, `x\u001b${'y'.repeat(500)}`);
    expect(isOrderError(error)).toBe(true);
    expect(error).toMatchObject({ code: 'order_mismatch', partner_order_id: id, state: undefined });
    expect(error.message).toContain(words);
    expect(error.message).not.toContain('\u001b');
    expect(error.message.length).toBeLessThan(500);
  });
});
