import { describe, expect, it } from 'vitest';
import { ExchangeClient } from '../../src/client/exchange-client.ts';
import { verifyBody } from '../../src/signature/verify-body.ts';
import { hmacHex } from '../support/bodies.ts';
import { startServer } from '../support/local-server.ts';
import { credentials, deploymentAt, exchangeAt, partner } from './clients.ts';
import { watchRejections } from './watch-rejections.ts';

watchRejections();

describe('regenerateKeys', () => {
  it('goes to the published path, with the dot before the last slash', async () => {
    const server = await startServer({});
    await exchangeAt(server.url).regenerateKeys(partner);
    expect(server.requests).toMatchObject([
      {
        method: 'POST',
        url: '/api/v1/no-auth/PartnerP2P/OnboardPartner./',
        headers: { authorization: 'Bearer pk_partner_4f1d20', 'content-type': 'application/json' },
      },
    ]);
  });

  it('is signed with the partner secret over the bytes that arrive', async () => {
    const server = await startServer({});
    await exchangeAt(server.url).regenerateKeys(partner);
    const bytes = server.requests[0]?.body ?? Buffer.alloc(0);
    const { value, text } = verifyBody(bytes, { key: credentials.partnerSecretKey });
    expect(text).toBe('{"partner_code":"acme","email":"ops@acme.example"}');
    expect(value.signature).toBe(hmacHex(text, credentials.partnerSecretKey));
  });

  it('needs no merchant secret, and no partner_code where the credentials have one', async () => {
    const server = await startServer({});
    const { merchantSecretKey: _, ...withoutMerchant } = credentials;
    const withCode = { ...withoutMerchant, partnerCode: 'acme-2' };
    const exchange = new ExchangeClient({ deployment: deploymentAt(server.url), credentials: withCode });
    await exchange.regenerateKeys({ email: 'ops@acme.example' });
    await exchange.regenerateKeys(partner);
    const codes = server.requests.map(({ body }) => JSON.parse(String(body)).partner_code);
    expect(codes).toEqual(['acme-2', 'acme']);
  });
});
