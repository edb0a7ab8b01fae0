import { expect, it } from 'vitest';
import { buyInitBody } from '../../../support/bodies.ts';
import { delivery, recordingWebhooks } from '../../deliveries.ts';
import { warningsDuring } from '../../warnings.ts';
import { send } from '../server.ts';
import { describeFramework } from './contract.ts';
import { mountNest } from './mount-nest.ts';

describeFramework('NestJS with rawBody: true', (webhooks) => mountNest(webhooks, { rawBody: true }), {
  slowBody: 'server',
});

it('NestJS without rawBody: true is told to set it', async () => {
  const { events, webhooks } = recordingWebhooks();
  const { port, close } = await mountNest(webhooks, { rawBody: false });
  let status = 0;
  const warnings = await warningsDuring(async () => {
    const headers = { 'content-type': 'application/json' };
    ({ status } = await send(port, { headers, body: delivery(buyInitBody()) }));
  });
  await close();
  expect([status, events]).toEqual([500, []]);
  expect(String(warnings)).toContain('NestFactory.create(AppModule, { rawBody: true })');
});
