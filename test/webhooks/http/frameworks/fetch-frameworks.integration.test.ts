import { Hono } from 'hono';
import { expect, it } from 'vitest';
import { buyInitBody } from '../../../support/bodies.ts';
import { delivery, recordingWebhooks } from '../../deliveries.ts';
import { warningsDuring } from '../../warnings.ts';
import { describeFramework } from './contract.ts';
import { mountFetch, mountNext } from './mount.ts';

describeFramework('Hono', (webhooks) => {
  const app = new Hono();
  app.all('/', (context) => webhooks.fetch(context.req.raw));
  return mountFetch(app.fetch);
});

describeFramework('a Next.js route handler', mountNext);

it('Hono, whose body a validator has parsed, is told where the remedy is', async () => {
  const { events, webhooks } = recordingWebhooks();
  const app = new Hono();
  app.post('/', async (context) => {
    await context.req.json();
    return await webhooks.fetch(context.req.raw);
  });
  let status = 0;
  const warnings = await warningsDuring(async () => {
    const headers = { 'content-type': 'application/json' };
    ({ status } = await app.request('/', { method: 'POST', headers, body: delivery(buyInitBody()) }));
  });
  expect([status, events]).toEqual([500, []]);
  expect(String(warnings)).toContain('docs/details/webhooks.md#the-body-was-parsed-first');
});
