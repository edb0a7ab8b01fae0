import { expect, it } from 'vitest';
import { signingKey } from '../../../src/credentials/signing-key.ts';
import { operationUrl } from '../../../src/deployment/define-deployment.ts';
import { fromWireNames } from '../../../src/deployment/wire-names.ts';
import { createSandbox } from '../../../src/devtools/sandbox/create-sandbox.ts';
import { parseOrderEvent } from '../../../src/events/parse-order-event.ts';
import { verifyBody } from '../../../src/signature/verify-body.ts';
import { callback, onboarded, order, place, post, refusal, reply } from './support.ts';

const wireNames = {
  platform_order_ref: 'acme_ref',
  platform_merchant_id: 'acme_merchant',
  messenger_device_no: 'acme_device',
  'connect-msg': 'connect-acme',
};

it("a sandbox speaks the deployment's names in orders and events", async () => {
  const partnerSide = callback();
  const sandbox = createSandbox({ fetch: partnerSide.fetch, deployment: { wireNames } });
  const credentials = await onboarded(sandbox);
  const { body } = await reply(place(sandbox, credentials, { ...order, acme_merchant: 'M-1' }));
  const ref = sandbox.orders[0]?.platform_order_ref;
  expect(body.acme_ref).toBe(ref);
  expect(sandbox.orders[0]?.payload).toEqual({ ...order, platform_merchant_id: 'M-1' });
  await sandbox.idle();
  const text = partnerSide.received[0]?.text ?? '';
  const { value } = verifyBody(text, { key: signingKey(credentials, 'order') });
  expect(value.acme_ref).toBe(ref);
  expect(value).not.toHaveProperty('platform_order_ref');
  expect(parseOrderEvent(fromWireNames(value, wireNames)).kind).toBe('known');
});

it("a sandbox speaks the deployment's names in the messenger", async () => {
  const sandbox = createSandbox({ deployment: { wireNames } });
  const headers = { authorization: sandbox.masterKey };
  const { body } = await reply(post(sandbox, 'generateApiKey', { acme_device: '7' }, headers));
  expect(body).toEqual({ api_key: expect.any(String), acme_device: '7' });
  const url = operationUrl(sandbox.deployment, 'scanDevice');
  expect(url).toContain('/connect-acme/scan-device');
  expect((await sandbox.fetch(`${url}?api_key=${body.api_key}`)).status).toBe(200);
});

it('a sandbox refuses the published name where another is configured', async () => {
  const sandbox = createSandbox({ deployment: { wireNames } });
  const headers = { authorization: sandbox.masterKey };
  const device = post(sandbox, 'generateApiKey', { messenger_device_no: '7' }, headers);
  expect(await refusal(device)).toEqual([400, 'wrong_wire_name']);
  const credentials = await onboarded(sandbox);
  const published = place(sandbox, credentials, { ...order, platform_merchant_id: 'M-1' });
  expect(await refusal(published)).toEqual([400, 'wrong_wire_name']);
});
