import { describe, expect, it } from 'vitest';
import { createSandbox } from '../../../../src/devtools/sandbox/create-sandbox.ts';
import { isValidationError } from '../../../../src/errors/errors.ts';
import { lines } from '../lines.ts';
import {
  bearer,
  callback,
  onboarded,
  order,
  partner,
  place,
  post,
  refusal,
  regenerate,
  reply,
} from '../support.ts';

describe.each(lines)('a partner, over %s', (_, connect) => {
  it('is mailed a link that reveals usable keys', async () => {
    const sandbox = createSandbox();
    const line = await connect(sandbox);
    expect((await post(line, 'onboard', partner)).status).toBe(200);
    const [email] = sandbox.emails;
    expect(email).toMatchObject({ to: partner.email, kind: 'onboarding', partner_code: 'acme' });
    expect(new URL(email?.link ?? '').origin).toBe(new URL(line.deployment.onboardingBaseUrl ?? '').origin);
    const { status, body } = await reply(line.fetch(email?.link ?? ''));
    expect(status).toBe(200);
    expect(body).toEqual({
      partnerPublicKey: expect.stringMatching(/^pk_partner_/),
      partnerSecretKey: expect.stringMatching(/^sk_partner_/),
      merchantSecretKey: expect.stringMatching(/^sk_merchant_/),
      partnerId: expect.stringMatching(/./),
      partnerCode: 'acme',
    });
  });

  it('works with the old keys until the reset link is opened, and then only with the new ones', async () => {
    const sandbox = createSandbox({ fetch: callback().fetch });
    const line = await connect(sandbox);
    const old = await onboarded(sandbox, line);
    expect((await regenerate(line, old)).status).toBe(200);
    expect(sandbox.emails[1]).toMatchObject({ kind: 'reset', to: partner.email });
    expect((await place(line, old)).status).toBe(200);
    const fresh = sandbox.openLink(sandbox.emails[1]?.link ?? '');
    expect(fresh.partnerId).toBe(old.partnerId);
    expect(fresh.merchantSecretKey).not.toBe(old.merchantSecretKey);
    const next = { ...order, partner_order_id: 'A-2' };
    expect(await refusal(place(line, old, next))).toEqual([401, 'unknown_public_key']);
    expect(await refusal(regenerate(line, old))).toEqual([401, 'unknown_public_key']);
    const mixed = { ...old, partnerPublicKey: fresh.partnerPublicKey };
    expect(await refusal(place(line, mixed, next))).toEqual([401, 'signature_mismatch']);
    expect((await place(line, fresh, next)).status).toBe(200);
  });
});

describe('onboarding', () => {
  it('gives keys that are not valid before the link is opened', async () => {
    const [sandbox, twin] = [createSandbox({ seed: 7 }), createSandbox({ seed: 7 })];
    await post(sandbox, 'onboard', partner);
    const guess = { authorization: bearer(await onboarded(twin)) };
    await post(sandbox, 'whitelistIp', '');
    expect(await refusal(post(sandbox, 'createOrder', order, guess))).toEqual([401, 'unknown_public_key']);
    expect(sandbox.openLink(sandbox.emails[0]?.link ?? '').partnerPublicKey).toBe(
      guess.authorization.slice(7),
    );
  });

  it('refuses a partner_code that is taken', async () => {
    const sandbox = createSandbox();
    await post(sandbox, 'onboard', partner);
    expect(await refusal(post(sandbox, 'onboard', { ...partner, email: 'x@y.example' }))).toEqual([
      409,
      'partner_exists',
    ]);
    expect(sandbox.emails).toHaveLength(1);
  });

  it.each([{ email: partner.email }, { ...partner, partner_code: '' }, { ...partner, email: 'acme' }])(
    'refuses %j',
    async (body) => {
      expect(await refusal(post(createSandbox(), 'onboard', body))).toEqual([400, 'invalid_body']);
    },
  );
});

it('a sandbox keeps the last mails, as many as maxRemembered says', async () => {
  const sandbox = createSandbox({ maxRemembered: 2 });
  for (const partner_code of ['p1', 'p2', 'p3']) await post(sandbox, 'onboard', { ...partner, partner_code });
  expect(sandbox.emails.map(({ partner_code }) => partner_code)).toEqual(['p2', 'p3']);
});

describe('a one-time link', () => {
  it('that was never sent is 404, and a ValidationError', async () => {
    const sandbox = createSandbox();
    const link = 'https://sandbox.localhost/onboarding/one-time/abc';
    expect(await refusal(sandbox.fetch(link))).toEqual([404, 'not_found']);
    for (const wrong of [link, 'https://elsewhere.example/', 'no URL']) {
      expect(() => sandbox.openLink(wrong)).toThrow(expect.toSatisfy(isValidationError));
    }
  });

  it('of an earlier reset stops working when a later one is sent, and the keys go on', async () => {
    const sandbox = createSandbox({ fetch: callback().fetch });
    const credentials = await onboarded(sandbox);
    await regenerate(sandbox, credentials);
    await regenerate(sandbox, credentials);
    const [, first = { link: '' }, second = { link: '' }] = sandbox.emails;
    expect(await refusal(sandbox.fetch(first.link))).toEqual([410, 'link_replaced']);
    expect(() => sandbox.openLink(first.link)).toThrow('later link');
    expect((await place(sandbox, credentials)).status).toBe(200);
    expect(sandbox.openLink(second.link).partnerId).toBe(credentials.partnerId);
    expect((await sandbox.fetch(second.link)).status).toBe(410);
  });

  it('is not spent by a method that is not answered', async () => {
    const sandbox = createSandbox();
    await post(sandbox, 'onboard', partner);
    const link = sandbox.emails[0]?.link ?? '';
    const response = await sandbox.fetch(link, { method: 'HEAD' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET']);
    expect((await sandbox.fetch(link)).status).toBe(200);
  });
});

describe('key regeneration', () => {
  it('refuses a body signed with the order key, without bearer, or of another partner', async () => {
    const sandbox = createSandbox();
    const credentials = await onboarded(sandbox);
    const orderKey = { ...credentials, partnerSecretKey: `sk_partner_${'0'.repeat(48)}` };
    expect(await refusal(regenerate(sandbox, orderKey))).toEqual([401, 'signature_mismatch']);
    expect(await refusal(post(sandbox, 'regenerateKeys', partner))).toEqual([401, 'bearer_missing']);
    const unsigned = post(sandbox, 'regenerateKeys', partner, { authorization: bearer(credentials) });
    expect(await refusal(unsigned)).toEqual([401, 'signature_missing']);
    for (const other of [
      { ...partner, partner_code: 'other' },
      { ...partner, email: 'other@acme.example' },
    ]) {
      expect(await refusal(regenerate(sandbox, credentials, other))).toEqual([400, 'partner_mismatch']);
    }
    expect(sandbox.emails).toHaveLength(1);
  });

  it('signs the events of older orders with the new keys', async () => {
    const partnerSide = callback();
    const sandbox = createSandbox({ fetch: partnerSide.fetch });
    const credentials = await onboarded(sandbox);
    await place(sandbox, credentials);
    await regenerate(sandbox, credentials);
    const fresh = sandbox.openLink(sandbox.emails[1]?.link ?? '');
    await sandbox.advance('A-1', 'fiat_received');
    expect(partnerSide.received.map(({ headers }) => headers.get('authorization'))).toEqual([
      bearer(credentials),
      bearer(fresh),
    ]);
  });
});
