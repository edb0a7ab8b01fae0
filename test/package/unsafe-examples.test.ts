import { describe, expect, it } from 'vitest';
import { findUnsafeExamples } from '../../tools/checks/unsafe-examples.ts';

describe('the programs that readers copy', () => {
  it('make none of the mistakes that cost money', () => {
    expect(findUnsafeExamples()).toEqual([]);
  });

  it.each([
    ['if (event.partner_order_id === order.id) await credit(event);', 'whose order it is'],
    ['const order = await readOrder(event.partner_order_id);', 'whose order it is'],
    [
      "await query('UPDATE orders SET paid = 1 WHERE id = $1', [event.partner_order_id]);",
      'whose order it is',
    ],
    ['if (seen.has(context.digest)) return;', 'the digest'],
    ['await journal.create(await request.json());', 'the body of a request'],
    ['const order = await req.json();\nawait journal.prepare(order);', 'the body of a request'],
  ])('are found to be wrong: %s', (code, mistake) => {
    expect(findUnsafeExamples([['page.md', code]])).toEqual([expect.stringContaining(mistake)]);
  });

  it.each([
    'const { timeline } = await orderOf(event.partner_order_id); applyEvent(timeline, event, { owner, key });',
    "webhooks.onAny(journal.observe); pay.set(event.partner_order_id, '');",
    'queue.add(message, { jobId: message.digest });',
    'await journal.create(orderOf(row, PUBLIC_URL));',
  ])('may do this: %s', (code) => {
    expect(findUnsafeExamples([['page.md', code]])).toEqual([]);
  });
});
