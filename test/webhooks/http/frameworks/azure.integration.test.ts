import { HttpRequest } from '@azure/functions';
import { expect, it } from 'vitest';
import { buyInitBody } from '../../../support/bodies.ts';
import { delivery, recordingWebhooks } from '../../deliveries.ts';
import { warningsDuring } from '../../warnings.ts';
import { describeFramework } from './contract.ts';
import { azureUrl, mountAzure } from './mount-cloud.ts';

describeFramework('Azure Functions v4', (webhooks) => mountAzure(webhooks, 'whole'));

describeFramework('Azure Functions v4 with HTTP streams', (webhooks) => mountAzure(webhooks, 'streamed'));

it('Azure Functions, whose body was read before, is told where the remedy is', async () => {
  const { events, webhooks } = recordingWebhooks();
  const request = new HttpRequest({
    method: 'POST',
    url: azureUrl,
    headers: { 'content-type': 'application/json' },
    body: { string: delivery(buyInitBody()) },
  });
  await request.json();
  let status = 0;
  const warnings = await warningsDuring(async () => {
    ({ status } = await webhooks.fetch(request));
  });
  expect([status, events]).toEqual([500, []]);
  expect(String(warnings)).toContain('docs/details/webhooks.md#the-body-was-parsed-first');
});
