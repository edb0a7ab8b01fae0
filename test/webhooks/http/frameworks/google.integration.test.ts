import type { RequestListener } from 'node:http';
import { type HttpFunction, http } from '@google-cloud/functions-framework';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import { expectTypeOf, it } from 'vitest';
import { recordingWebhooks } from '../../deliveries.ts';
import { describeFramework } from './contract.ts';
import { listen } from './listen.ts';

describeFramework(
  'Google Cloud Functions',
  (webhooks) => {
    http('orders', webhooks.node);
    const [listener] = getTestServer('orders').listeners('request');
    // Sound: a server calls the listeners of this event with a request and a response.
    return listen(listener as RequestListener);
  },
  { slowBody: 'server' },
);

it('the listener fits the type of a function', () => {
  expectTypeOf(recordingWebhooks().webhooks.node).toExtend<HttpFunction>();
});
