import { createServer } from 'node:http';
import express from 'express';
import { describe, expect, it } from 'vitest';
import { buyInitBody } from '../../../support/bodies.ts';
import { delivery, recordingWebhooks } from '../../deliveries.ts';
import { warningsDuring } from '../../warnings.ts';
import { send } from '../server.ts';
import { describeFramework } from './contract.ts';
import { listen, mountServer } from './mount.ts';
import { mountGoogleCloud } from './mount-cloud.ts';

describeFramework('node:http', (webhooks) => mountServer(createServer(webhooks.node)));

describeFramework('Google Cloud Functions', mountGoogleCloud);

describeFramework('Express 5, mounted before body parsers', (webhooks) => {
  const app = express();
  app.all('/', webhooks.node);
  app.use(express.json());
  return listen(app);
});

describeFramework('Express 5, with express.raw() on the route', (webhooks) => {
  const app = express();
  app.all('/', express.raw({ type: 'application/json' }), webhooks.node);
  return listen(app);
});

describeFramework('Express 5, behind express.json() that keeps the bytes', (webhooks) => {
  const app = express();
  app.use(
    express.json({
      verify: (request, _response, bytes) => {
        Object.assign(request, { rawBody: bytes });
      },
    }),
  );
  app.all('/', webhooks.node);
  return listen(app);
});

describe('Express 5, behind express.json() alone', () => {
  it('does not guess at the bytes: 500, and how to do it right', async () => {
    const { events, webhooks } = recordingWebhooks();
    const app = express();
    app.use(express.json());
    app.post('/', webhooks.node);
    const { port, close } = await listen(app);
    let answer = { status: 0, body: '' };
    const warnings = await warningsDuring(async () => {
      const headers = { 'content-type': 'application/json' };
      answer = await send(port, { headers, body: delivery(buyInitBody()) });
    });
    await close();
    expect(answer.status).toBe(500);
    expect(JSON.parse(answer.body)).toMatchObject({ error: 'raw_body_required' });
    expect(answer.body).not.toMatch(/express/i);
    expect(String(warnings)).toContain('docs/details/webhooks.md#the-body-was-parsed-first');
    expect(events).toEqual([]);
  });
});
