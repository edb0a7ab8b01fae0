import { Hono } from 'hono';
import { describeFramework } from './contract.ts';
import { mountFetch } from './mount-fetch.ts';

describeFramework('Hono', (webhooks) => {
  const app = new Hono();
  app.all('/', (context) => webhooks.fetch(context.req.raw));
  return mountFetch(app.fetch);
});
