import { describe, expect, it } from 'vitest';
import { signingKey } from '../../../src/credentials/signing-key.ts';
import { createSandbox } from '../../../src/devtools/sandbox/create-sandbox.ts';
import { signBody } from '../../../src/signature/sign-body.ts';
import { bearer, callback, onboarded, order, place, post, regenerate } from '../sandbox/support.ts';
import { startStory } from './story.ts';

describe('the API', () => {
  it('moves an order and posts its events, as sandbox.advance and play do', async () => {
    await using story = await startStory();
    await story.order('A-1');
    await story.order('A-2');
    const advanced = await story.api('orders/A-1/advance', { step: 'no_kyc' });
    expect(advanced.body).toMatchObject({
      order: { state: 'no_kyc', next: expect.arrayContaining(['credited', 'refunded']) },
      deliveries: [{ name: 'event.buy.received.fiat_kyc_error', status: 200, acknowledged: true }],
    });
    const played = await story.api('orders/A-2/play', { scenario: 'happy' });
    expect(played.body).toMatchObject({ order: { state: 'credited', next: [] } });
    expect(story.sandbox.order('A-2').state).toBe('credited');
    expect((await story.api('orders/A-2/play', { scenario: 'happy' })).status).toBe(409);
    const impossible = await story.api('orders/A-2/advance', { step: 'refunded' });
    expect(impossible).toMatchObject({ status: 409, body: { error: 'not_possible' } });
    const { body } = await story.api('deliveries?order=A-2&limit=2');
    expect(body).toMatchObject({ total: 3, items: [{ name: 'event.buy.credited.crypto' }, {}] });
  });

  it('lists the newest first, page by page', async () => {
    await using story = await startStory();
    for (const id of ['A-1', 'A-2', 'A-3']) await story.order(id);
    const ids = async (query: string) => {
      const { body } = await story.api(`orders?${query}`);
      return (body.items as { partner_order_id: string }[]).map(({ partner_order_id }) => partner_order_id);
    };
    expect(await ids('')).toEqual(['A-3', 'A-2', 'A-1']);
    expect(await ids('limit=2')).toEqual(['A-3', 'A-2']);
    expect(await ids('limit=2&offset=2')).toEqual(['A-1']);
    expect(await ids('offset=5')).toEqual([]);
    expect(await ids('order=A-2')).toEqual(['A-2']);
  });

  it('finds one order by its id behind the 20 that are listed, and those of a state', async () => {
    await using story = await startStory();
    const ids = Array.from({ length: 30 }, (_, index) => `A-${1001 + index}`);
    await Promise.all(ids.map((id) => story.order(id)));
    const { body } = await story.api('orders?search=A-1001&limit=20');
    expect(body).toMatchObject({ total: 1, items: [{ partner_order_id: 'A-1001' }] });
    expect((await story.api('orders?search=created&limit=1')).body.total).toBe(30);
  });

  it('sets faults, and explains why one is refused', async () => {
    await using story = await startStory();
    const plan = (target: string, fault: unknown) => story.api('faults', { target, fault });
    await plan('createOrder', { kind: 'server_error', status: 503 });
    await expect(story.order('A-1')).rejects.toMatchObject({ status: 503 });
    expect(await plan('createOrdr', 'reset')).toMatchObject({
      status: 400,
      body: { error: 'invalid_body', message: expect.stringContaining('Did you mean "createOrder"?') },
    });
    const { known } = (await story.api('state')).body;
    expect(known).toMatchObject({
      faultForms: { other_reply: expect.arrayContaining(['html']) },
      memberFaults: expect.arrayContaining(['member_missing']),
    });
    const fault = { kind: 'member_missing', member: 'payer_into_account.bank_name' };
    expect((await plan('event', fault)).status).toBe(200);
    expect(story.sandbox.faults.list()).toEqual([{ target: 'event', fault }]);
  });

  it('keeps the faults as they are when a new one is refused', async () => {
    const faults = [{ target: 'request', fault: 'reset', rate: 0.1 }] as const;
    await using story = await startStory({ faults });
    for (const refused of [
      { target: 'createOrder', fault: 'duplicate' },
      { target: '__proto__', fault: 'reset' },
      { target: 'event' },
      { target: 'event', fault: 'duplicate', rate: 2 },
      { target: 'event', fault: 'duplicates' },
      { target: 'event', fault: 'duplicate', times: 1 },
    ]) {
      expect(await story.api('faults', refused)).toMatchObject({ status: 400 });
      expect(story.sandbox.faults.list()).toEqual(faults);
    }
  });

  it('moves the clock, and repeats events by a policy', async () => {
    await using story = await startStory({ clock: 'manual' });
    const before = story.sandbox.clock.now();
    await story.api('retry', { policy: { maxAttempts: 3, firstDelayMs: 1000 } });
    await story.order('A-1', { partner_callback_url: 'http://127.0.0.1:9/' });
    await story.sandbox.idle();
    const { body } = await story.api('clock/advance', { ms: 1000 });
    expect(body).toEqual({ now: before + 1000, nextAt: before + 3000 });
    await story.api('clock/drain', {});
    expect(story.sandbox.deliveries[0]).toMatchObject({ attempts: 3, acknowledged: false });
  });

  it('names orders whose ids hold anything', async () => {
    await using story = await startStory();
    const id = 'ä/../%2F ?#<b>';
    await story.order(id);
    const { body } = await story.api(`orders/${encodeURIComponent(id)}`);
    expect(body.partner_order_id).toBe(id);
  });

  it('refuses more than so many streams at once, and takes new ones when others end', async () => {
    await using story = await startStory();
    const url = `${story.server.url}/_sandbox/trace/stream`;
    const leave = new AbortController();
    const all = await Promise.all(Array.from({ length: 64 }, () => fetch(url, { signal: leave.signal })));
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await fetch(url)).status).toBe(503);
    leave.abort();
    await expect
      .poll(async () => {
        const controller = new AbortController();
        const { status } = await fetch(url, { signal: controller.signal });
        controller.abort();
        return status;
      })
      .toBe(200);
  });
});

describe('the signature of an exchange', () => {
  const signatureOf = async (
    story: Awaited<ReturnType<typeof startStory>>,
    find: (entry: Entry) => boolean,
  ) => {
    const entry = story.sandbox.trace.entries.find(find);
    const { body } = await story.api(`trace/${entry?.id}`);
    return body.signature;
  };
  type Entry = ReturnType<typeof createSandbox>['trace']['entries'][number];

  it('is said to hold, with the key and the text', async () => {
    await using story = await startStory();
    await story.order('A-1');
    await story.sandbox.idle();
    const request = await signatureOf(
      story,
      ({ operation, kind }) => operation === 'createOrder' && kind === 'request',
    );
    expect(request).toMatchObject({
      holds: true,
      key: 'order key of acme',
      isExpectedKey: true,
      differences: [],
    });
    const sent = story.sandbox.trace.entries.find(({ operation }) => operation === 'createOrder')?.body ?? '';
    expect(sent).toContain((request as { signedText: string }).signedText.slice(0, -1));
    const event = await signatureOf(story, ({ kind }) => kind === 'event');
    expect(event).toMatchObject({ holds: true, key: 'order key of acme', isExpectedKey: true });
    const unsigned = await signatureOf(story, ({ operation }) => operation === 'whitelistIp');
    expect(unsigned).toBeUndefined();
  });

  it('is said not to hold, with what differs from the genuine event', async () => {
    await using story = await startStory();
    await story.order('A-1');
    await story.sandbox.idle();
    const [id] = story.sandbox.deliveries.map((delivery) => delivery.id);
    await story.api(`deliveries/${id}/tamper`, {});
    await story.api(`deliveries/${id}/forge`, {});
    const tampered = await signatureOf(story, ({ faults }) => faults.includes('tampered'));
    expect(tampered).toMatchObject({
      holds: false,
      reason: { code: 'signature_mismatch' },
      differences: [{ member: 'fiat_amount_to_pay', genuine: '15000.50', found: '95000.50' }],
    });
    const forged = await signatureOf(story, ({ faults }) => faults.includes('forged'));
    expect(forged).toMatchObject({ holds: false, differences: [{ member: 'signature' }] });
    expect(story.sandbox.deliveries.map(({ status }) => status)).toEqual([200, 401, 401]);
  });

  it('is said to be made with the wrong key, and why', async () => {
    await using story = await startStory();
    const { deployment } = story.server;
    const line = { fetch, deployment };
    const { credentials } = story;
    const { text } = signBody(order, {
      key: signingKey(credentials, 'general'),
      scheme: deployment.signature,
    });
    await post(line, 'createOrder', text, { authorization: bearer(credentials) });
    await post(line, 'createOrder', text.replace('15000.50', '15000.51'), {
      authorization: bearer(credentials),
    });
    const [wrongKey, changed] = story.sandbox.trace.entries.filter(
      ({ operation, kind }) => operation === 'createOrder' && kind === 'request',
    );
    const { body } = await story.api(`trace/${wrongKey?.id}`);
    expect(body.signature).toMatchObject({
      holds: true,
      key: 'partner secret of acme',
      isExpectedKey: false,
    });
    const explained = await story.api(`trace/${changed?.id}/explanation`);
    expect(explained.body).toMatchObject({
      findings: [{ id: 'nothing-fits', advice: expect.stringContaining('the keys are those') }, {}],
    });
    const unsigned = story.sandbox.trace.entries.find(({ operation }) => operation === 'whitelistIp');
    expect((await story.api(`trace/${unsigned?.id}/explanation`)).body.error).toBe('not_signed');
  });

  it('is examined whatever a body holds', async () => {
    await using story = await startStory();
    const line = { fetch, deployment: story.server.deployment };
    const bodies = [
      '',
      '{',
      '[]',
      'null',
      '{"signature":1}',
      '{"signature":"x","signature":"y"}',
      '\u0000',
      '{"a":1e999}',
    ];
    for (const body of bodies) await post(line, 'createOrder', body);
    for (const { id, operation, kind } of story.sandbox.trace.entries) {
      if (operation !== 'createOrder' || kind !== 'request') continue;
      expect((await story.api(`trace/${id}`)).body.signature).toMatchObject({ holds: false });
      expect((await story.api(`trace/${id}/explanation`)).status).toBe(200);
    }
  });

  it('is not explained of a body that would hold up everything else', async () => {
    await using story = await startStory();
    const line = { fetch, deployment: story.server.deployment };
    for (const length of [16_384, 16_385]) {
      await post(line, 'createOrder', `{"signature":"${'0'.repeat(length - 16)}"}`);
    }
    const sent = story.sandbox.trace.entries.filter(
      ({ operation, kind }) => operation === 'createOrder' && kind === 'request',
    );
    const answers = await Promise.all(sent.map(({ id }) => story.api(`trace/${id}/explanation`)));
    expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
      [200, undefined],
      [409, 'body_too_large'],
    ]);
  });

  it('is held against the keys of its time: what was right stays right after regenerations', async () => {
    const sandbox = createSandbox({ fetch: callback().fetch, clock: 'manual' });
    const server = await sandbox.listen();
    const line = { fetch, deployment: server.deployment };
    const first = await onboarded(sandbox, line);
    await place(line, first);
    let keys = first;
    for (let round = 0; round < 2; round++) {
      await regenerate(line, keys);
      await sandbox.clock.advance(1);
      keys = sandbox.openLink(sandbox.emails.at(-1)?.link ?? '');
      await sandbox.clock.advance(1);
    }
    await place(line, first, { ...order, partner_order_id: 'A-2' });
    sandbox.faults.plan('event', 'old_key');
    await place(line, keys, { ...order, partner_order_id: 'A-3' });
    await sandbox.idle();
    const seen: unknown[] = [];
    for (const { id, kind, operation, event, order: about } of sandbox.trace.entries) {
      if (kind !== 'event' && (kind !== 'request' || about === undefined) && operation !== 'regenerateKeys')
        continue;
      if (kind === 'reply' || kind === 'fault') continue;
      const { signature } = await (await fetch(`${server.url}/_sandbox/trace/${id}`)).json();
      seen.push([operation ?? event, about, signature.key, signature.isExpectedKey]);
    }
    const [last, both] = ['before the last regeneration', 'before the last 2 regenerations'];
    expect(seen).toEqual([
      ['createOrder', 'A-1', `order key of acme, ${both}`, true],
      ['event.buy.init', 'A-1', `order key of acme, ${both}`, true],
      ['regenerateKeys', undefined, `partner secret of acme, ${both}`, true],
      ['regenerateKeys', undefined, `partner secret of acme, ${last}`, true],
      ['createOrder', 'A-2', `order key of acme, ${both}`, false],
      ['createOrder', 'A-3', 'order key of acme', true],
      ['event.buy.init', 'A-3', `order key of acme, ${last}`, false],
    ]);
    await server.close();
  });
});
