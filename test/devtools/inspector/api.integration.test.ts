import { describe, expect, it } from 'vitest';
import { signingKey } from '../../../src/credentials/signing-key.ts';
import type { ExaminedSignature } from '../../../src/devtools/sandbox/control/examine-signature.ts';
import { createSandbox } from '../../../src/devtools/sandbox/create-sandbox.ts';
import { signBody } from '../../../src/signature/sign-body.ts';
import { bearer, order, partner, post, regenerate } from '../sandbox/support.ts';
import { type Story, sendMessages, startStory } from './story.ts';

describe('the API', () => {
  it('moves an order by a step or a scenario, and posts its events', async () => {
    await using story = await startStory();
    await story.order('A-1');
    await story.order('A-2');
    const advanced = await story.api('orders/A-1/advance', { step: 'no_kyc' });
    expect(advanced.body).toMatchObject({
      order: { state: 'no_kyc', next: expect.arrayContaining(['credited', 'refunded']) },
      deliveries: [{ name: 'event.buy.received.fiat_kyc_error', status: 200, acknowledged: true }],
    });
    const played = await story.api('orders/A-2/advance', { scenario: 'happy' });
    expect(played.body).toMatchObject({ order: { state: 'credited', next: [] }, deliveries: [{}, {}] });
    expect(story.sandbox.order('A-2').state).toBe('credited');
    expect((await story.api('orders/A-2/advance', { scenario: 'happy' })).status).toBe(409);
    const impossible = await story.api('orders/A-2/advance', { step: 'refunded' });
    expect(impossible).toMatchObject({ status: 409, body: { error: 'not_possible' } });
    expect((await story.api('orders/A-3/advance', { step: 'credited' })).body.error).toBe('not_possible');
    const both = { step: 'credited', scenario: 'happy' };
    expect((await story.api('orders/A-2/advance', both)).body.error).toBe('invalid_body');
  });

  it('lists the newest orders first, each with its events', async () => {
    await using story = await startStory();
    for (const id of ['A-1001', 'A-1002', 'A-1003']) await story.order(id);
    await story.sandbox.idle();
    expect((await story.api('orders?limit=2')).body).toMatchObject({
      total: 3,
      items: [
        { partner_order_id: 'A-1003', deliveries: [{ name: 'event.buy.init', status: 200 }] },
        { partner_order_id: 'A-1002' },
      ],
    });
  });

  it('creates an order as the client of the first partner does', async () => {
    await using story = await startStory();
    const created = await story.api('orders', { partner_callback_url: story.callbackUrl });
    await story.sandbox.idle();
    const request = story.sandbox.trace.entries.find(({ operation }) => operation === 'createOrder');
    expect(created.body).toEqual({ status: 200, exchange: request?.id, partner_order_id: 'A-1001' });
    expect(story.sandbox.deliveries).toMatchObject([{ partner_order_id: 'A-1001', acknowledged: true }]);
    for (const url of ['file:///etc/passwd', 'orders', '']) {
      const refused = await story.api('orders', { partner_callback_url: url });
      expect([url, refused.body.error]).toEqual([url, 'invalid_body']);
    }
  });

  it('creates no order before a partner has its keys, and shows none of them', async () => {
    const sandbox = createSandbox({ seed: 'no partner' });
    const server = await sandbox.listen();
    await post(sandbox, 'onboard', JSON.stringify(partner));
    const answer = await fetch(`${server.url}/_sandbox/orders`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${server.token}` },
      body: '{"partner_callback_url":"http://127.0.0.1:1/"}',
    });
    expect([answer.status, (await answer.json()).error]).toEqual([409, 'no_partner']);
    const { variables } = await (await fetch(`${server.url}/_sandbox/state`)).json();
    expect(Object.keys(variables)).not.toContain('PARTNER_SECRET_KEY');
    await server.close();
  });

  it('posts an event again, forged and tampered, and names the exchange that came of it', async () => {
    await using story = await startStory();
    await story.order('A-1');
    await story.sandbox.idle();
    const [delivery] = story.sandbox.deliveries;
    for (const [as, status, faults] of [
      ['again', 200, []],
      ['forged', 401, ['forged']],
      ['tampered', 401, ['tampered']],
    ] as const) {
      const { body } = await story.api(`deliveries/${delivery?.id}/post`, { as });
      const event = story.sandbox.trace.entries.findLast(({ kind }) => kind === 'event');
      expect(body).toMatchObject({ status, faults, exchange: event?.id });
      expect(event).toMatchObject({ faults, order: 'A-1' });
    }
    expect((await story.api('deliveries/none/post', { as: 'again' })).body.error).toBe('not_possible');
    expect((await story.api(`deliveries/${delivery?.id}/post`, { as: 'x' })).body.error).toBe('invalid_body');
  });

  it('plans faults once and at a rate, explains why one is refused, and removes all', async () => {
    await using story = await startStory();
    const plan = (target: string, fault: unknown, rate?: number) =>
      story.api('faults', { target, fault, rate });
    await plan('createOrder', { kind: 'server_error', status: 503 });
    await expect(story.order('A-1')).rejects.toMatchObject({ status: 503 });
    expect(await plan('createOrdr', 'reset')).toMatchObject({
      status: 400,
      body: { error: 'invalid_body', message: expect.stringContaining('Did you mean "createOrder"?') },
    });
    expect((await plan('event', undefined)).status).toBe(400);
    expect((await plan('event', 'duplicate', 2)).status).toBe(400);
    const fault = { kind: 'member_missing', member: 'payer_into_account.bank_name' };
    await plan('event', fault);
    expect((await plan('event', 'duplicate', 0.2)).body).toEqual({ done: true });
    expect((await story.api('state')).body.faults).toEqual([
      { target: 'event', fault },
      { target: 'event', fault: 'duplicate', rate: 0.2 },
    ]);
    await story.api('faults', undefined, 'DELETE');
    expect(story.sandbox.faults.list()).toEqual([]);
  });

  it('moves the clock by some time, and until no work waits', async () => {
    await using story = await startStory({
      clock: 'manual',
      callbackRetry: { maxAttempts: 3, firstDelayMs: 1000 },
    });
    const before = story.sandbox.clock.now();
    await story.order('A-1', { partner_callback_url: 'http://127.0.0.1:9/' });
    await story.sandbox.idle();
    const { body } = await story.api('clock', { advanceMs: 1000 });
    expect(body).toEqual({ now: before + 1000, nextAt: before + 3000 });
    await story.api('clock', { drain: true });
    expect(story.sandbox.deliveries[0]).toMatchObject({ attempts: 3, acknowledged: false });
    expect((await story.api('clock', { drain: false })).status).toBe(400);
  });

  it('has the last mails and messages in its state, the newest first', async () => {
    await using story = await startStory();
    await sendMessages(story, [
      ['+2348012345678', 'Your code is 482913.'],
      ['+2348012345678', 'Your code is 112233.'],
    ]);
    await story.exchange.regenerateKeys({ partner_code: 'acme', email: 'dev@acme.example' });
    const { body } = await story.api('state');
    expect(body).toMatchObject({
      messages: [{ message: 'Your code is 112233.' }, { message: 'Your code is 482913.' }],
      emails: [
        { kind: 'reset', linkState: 'open' },
        { kind: 'onboarding', linkState: 'used' },
      ],
    });
  });
});

describe('the signature of an exchange', () => {
  type Entry = ReturnType<typeof createSandbox>['trace']['entries'][number];
  const signatureOf = async (
    { sandbox, api }: Pick<Story, 'api' | 'sandbox'>,
    find: (entry: Entry) => boolean,
  ) => {
    const entry = sandbox.trace.entries.find(find);
    // Sound: the API answers so.
    return (await api(`trace/${entry?.id}`)).body.signature as ExaminedSignature | undefined;
  };

  it('holds, with its key and text, for what the partner and the service signed', async () => {
    await using story = await startStory();
    await story.order('A-1');
    await story.sandbox.idle();
    const made = { holds: true, sentences: ['Made with the order key of acme.'] };
    const request = await signatureOf(story, ({ operation }) => operation === 'createOrder');
    expect(request).toMatchObject(made);
    const sent = story.sandbox.trace.entries.find(({ operation }) => operation === 'createOrder')?.body ?? '';
    expect(sent).toContain(request?.signedText?.slice(0, -1));
    expect(await signatureOf(story, ({ kind }) => kind === 'event')).toMatchObject(made);
    expect(await signatureOf(story, ({ operation }) => operation === 'whitelistIp')).toBeUndefined();
    await regenerate({ fetch, deployment: story.server.deployment }, story.credentials);
    expect(await signatureOf(story, ({ operation }) => operation === 'regenerateKeys')).toMatchObject({
      sentences: ['Made with the partner secret of acme.'],
    });
    story.sandbox.openLink(story.sandbox.emails.at(-1)?.link ?? '');
    expect(await signatureOf(story, ({ kind }) => kind === 'event')).toMatchObject({
      holds: true,
      sentences: ['Made with the order key of acme, which was replaced since.'],
    });
  });

  it.each(['tampered', 'forged'])('does not hold for a %s event, whose fault is the reason', async (as) => {
    await using story = await startStory();
    await story.order('A-1');
    await story.sandbox.idle();
    await story.api('deliveries/delivery-1/post', { as });
    expect(await signatureOf(story, ({ faults }) => faults.includes(as))).toEqual({
      holds: false,
      sentences: [expect.stringContaining('does not match')],
    });
  });

  it('is explained where it does not hold, unless that would block all other requests', async () => {
    await using story = await startStory();
    const { deployment } = story.server;
    const key = signingKey(story.credentials, 'general');
    const { text } = signBody(order, { key, scheme: deployment.signature });
    const long = `{"signature":"${'0'.repeat(16_385 - 16)}"}`;
    const bodies = [
      text,
      text.replace('15000.50', '15000.51'),
      '',
      '[]',
      '{"signature":"x","signature":"y"}',
    ];
    for (const body of [...bodies, long])
      await post({ fetch, deployment }, 'createOrder', body, { authorization: bearer(story.credentials) });
    const sentences: (readonly string[])[] = [];
    for (const body of [...bodies, long]) {
      const signature = await signatureOf(story, (entry) => entry.body === body && entry.kind === 'request');
      expect([body, signature?.holds]).toEqual([body, false]);
      sentences.push(signature?.sentences ?? []);
    }
    expect(sentences.map(({ length }) => length > 1)).toEqual([...bodies.map(() => true), false]);
    expect(JSON.stringify(sentences)).not.toContain(story.credentials.partnerSecretKey);
  });
});

it('the API gives its traffic as JSON', async () => {
  await using story = await startStory();
  await story.order('A-1');
  await story.sandbox.idle();
  const { entries } = story.sandbox.trace;
  const { body: traffic } = await story.api('trace');
  expect(traffic).toMatchObject({ lastId: entries.length, forgotten: 0 });
  expect(traffic.entries).toHaveLength(entries.length);
});
