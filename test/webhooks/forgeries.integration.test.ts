import { expect, it } from 'vitest';
import { buyCreditedBody } from '../support/bodies.ts';
import { times } from '../support/repeat.ts';
import { delivery, quietWebhooks } from './deliveries.ts';
import { forgeries } from './forgeries.ts';
import { send, serve } from './http/server.ts';
import { fetchRequest } from './http/transports.ts';

const { signature: _, ...event } = buyCreditedBody({ note: 'é😀"\\' });

/** Webhooks for which any handler call is counted, and which would accept the event itself. */
function counting() {
  const calls: unknown[] = [];
  const webhooks = quietWebhooks({ onError: () => void calls.push('onError') })
    .onAny(() => void calls.push('onAny'))
    .onUnrecognized(() => void calls.push('onUnrecognized'));
  return { calls, webhooks };
}

const many = times(3_000, 10_000);

it(`of ${many} forged variants of a valid event every one is refused, and no handler is called`, async () => {
  const { calls, webhooks } = counting();
  const codes = new Map<string, number>();
  for (const forgery of forgeries(event, many)) {
    const outcome = await webhooks.receive(forgery);
    if (outcome.kind !== 'refused') throw new Error(`Not refused, but ${outcome.kind}: ${forgery}`);
    expect([400, 401]).toContain(outcome.status);
    codes.set(outcome.code, (codes.get(outcome.code) ?? 0) + 1);
  }
  expect(calls).toEqual([]);
  // The variants do reach each way of being refused.
  expect([...codes.keys()].toSorted()).toEqual([
    'body_not_json',
    'body_not_object',
    'body_not_utf8',
    'signature_duplicated',
    'signature_malformed',
    'signature_mismatch',
    'signature_missing',
  ]);
  // And the event itself is still welcome.
  expect(await webhooks.receive(delivery(event))).toMatchObject({ kind: 'handled' });
});

it(`of ${many / 10} forged variants every one is refused by fetch`, async () => {
  const { calls, webhooks } = counting();
  for (const body of forgeries(event, many / 10, 2)) {
    const response = await webhooks.fetch(fetchRequest({ body }));
    expect([400, 401]).toContain(response.status);
  }
  expect(calls).toEqual([]);
});

it(`of ${many / 20} forged variants every one is refused by node`, async () => {
  const { calls, webhooks } = counting();
  await using server = await serve(webhooks.node);
  for (const body of forgeries(event, many / 20, 3)) {
    expect([400, 401]).toContain((await send(server.port, { body })).status);
  }
  expect(calls).toEqual([]);
});
