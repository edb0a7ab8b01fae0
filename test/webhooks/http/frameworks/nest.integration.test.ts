import { expect, it } from 'vitest';
import { buyInitBody } from '../../../support/bodies.ts';
import { delivery, recordingWebhooks } from '../../deliveries.ts';
import { warningsDuring } from '../../warnings.ts';
import { send } from '../server.ts';
import { describeFramework } from './contract.ts';
import { mountBeforeNest, mountNest, mountNestOnFastify } from './mount-nest.ts';

describeFramework('NestJS with rawBody: true', (webhooks) => mountNest(webhooks, { rawBody: true }));

describeFramework('NestJS, mounted before its body parsers', mountBeforeNest);

describeFramework('NestJS on Fastify', mountNestOnFastify);

it('the controllers of NestJS on Fastify keep their parsers', async () => {
  const { port, close } = await mountNestOnFastify(recordingWebhooks().webhooks);
  const headers = { 'content-type': 'application/json' };
  const answer = await send(port, { headers, body: '{"a":1}', path: '/echo' });
  await close();
  expect([answer.status, answer.body]).toEqual([201, '{"a":1}']);
});

it('NestJS on Express without rawBody: true is told where the remedy is', async () => {
  const { events, webhooks } = recordingWebhooks();
  const { port, close } = await mountNest(webhooks, { rawBody: false });
  let status = 0;
  const warnings = await warningsDuring(async () => {
    const headers = { 'content-type': 'application/json' };
    ({ status } = await send(port, { headers, body: delivery(buyInitBody()) }));
  });
  await close();
  expect([status, events]).toEqual([500, []]);
  expect(String(warnings)).toContain('docs/details/webhooks.md#the-body-was-parsed-first');
});
