import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { eventBody } from '../../src/testing/event-body.ts';
import { refusedDeliveries, type SignedDelivery, signedDelivery } from '../../src/testing/signed-delivery.ts';
import { generation } from '../credentials/keys.ts';
import { type SnippetRun, startSnippet } from '../support/doc-snippets.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pex-guide-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

const credentials = {
  partnerPublicKey: 'pk_partner_test',
  partnerSecretKey: 'sk_partner_test',
  merchantSecretKey: 'sk_merchant_test',
};
const env = {
  PARTNER_PUBLIC_KEY: credentials.partnerPublicKey,
  PARTNER_SECRET_KEY: credentials.partnerSecretKey,
  MERCHANT_SECRET_KEY: credentials.merchantSecretKey,
};

/** Lines of a program, in the order in which it prints them. */
function linesOf({ stdout }: ChildProcess): AsyncIterator<string> {
  return createInterface({ input: stdout ?? expect.unreachable() })[Symbol.asyncIterator]();
}

/** The first program of a guide, as a server, with the address of its callback and what it prints. */
async function startReceiver(page: string, run: Partial<SnippetRun> = {}) {
  const child = startSnippet({
    page: `docs/guides/${page}`,
    folder,
    env,
    ...run,
    replaced: {
      'listen(3000)': "listen(0, '127.0.0.1', function () { console.log(this.address().port); })",
      ...run.replaced,
    },
  });
  const lines = linesOf(child);
  const next = async () => (await lines.next()).value;
  const port = await next();
  const post = async ({ headers, body }: SignedDelivery, path = '/orders') =>
    (await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body })).status;
  return { child, next, post };
}

describe('the first program of a guide', () => {
  it('receive-events acts once on an event that is repeated, not on a forgery, and ends on SIGTERM', async () => {
    const { child, next, post } = await startReceiver('receive-events.md');
    const body = eventBody('event.buy.credited.crypto', { partner_order_id: 'A-1' });
    const delivery = signedDelivery(body, { credentials });
    expect(await post(refusedDeliveries(body, { credentials }).forged)).toBe(401);
    expect([await post(delivery), await post(delivery)]).toEqual([200, 200]);
    const other = { ...body, partner_order_id: 'A-2' };
    expect(await post(signedDelivery(other, { credentials }))).toBe(200);
    expect([await next(), await next()]).toEqual(['credited A-1', 'credited A-2']);
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    expect(await next()).toBeUndefined();
  });

  it('kyc-and-refund tells the KYC errors in both spellings, the credit and the refund apart', async () => {
    const { next, post } = await startReceiver('kyc-and-refund.md');
    const bodies = [
      eventBody('event.buy.received.fiat_kyc_error', {
        kyc_error_type: 'NO_KYC',
        default_kyc_url: 'https://kyc.example/',
      }),
      eventBody('event.buy.received.fiat_kyc_error', {
        kyc_error_type: 'THIRD_PARTY_PAYMENT',
        sender_name: 'Zoë',
      }),
      eventBody('event.buy.received.fiat_kyc_error', {
        kyc_error_type: 'THIRD_PARTY_ERROR',
        sender_name: 'Zoë',
      }),
      eventBody('event.buy.third_party_error'),
      eventBody('event.buy.credited.crypto', { crypto_txn_hash: 'abc' }),
      eventBody('buy.event.close', {
        meta_data: { amount_refunded: '14900.50', refund_account: '0123', fee: 100 },
      }),
    ];
    const printed: unknown[] = [];
    for (const body of bodies) {
      expect(await post(signedDelivery({ ...body, partner_order_id: 'A-1' }, { credentials }))).toBe(200);
      printed.push(await next());
    }
    expect(printed).toEqual([
      'A-1 send the buyer to https://kyc.example/',
      'A-1 was paid from the account of Zoë',
      'A-1 was paid from the account of Zoë',
      'A-1 was paid by a third party',
      'A-1 is credited by abc',
      'A-1 refunded 14900.50 NGN to 0123 fee 100',
    ]);
  });

  it('many-partners accepts an event at the path of the partner that signed it, and at no other', async () => {
    const { next, post } = await startReceiver('many-partners.md');
    const body = eventBody('event.buy.init', { partner_order_id: 'A-1' });
    const delivery = signedDelivery(body, { credentials: generation('P-1') });
    expect(await post(delivery, '/orders/P-2')).toBe(401);
    expect(await post(delivery, '/orders/P-3')).toBe(401);
    expect(await post(delivery, '/orders/P-1')).toBe(200);
    expect(await next()).toBe('A-1 signed by P-1');
  });
});
