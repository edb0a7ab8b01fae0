import { describe, expect, it, vi } from 'vitest';
import type { Delivery, Inbox } from '../../src/inbox/inbox.ts';
import { verifyBody } from '../../src/signature/verify-body.ts';
import { buyInitBody, orderKey } from '../support/bodies.ts';
import { thrownBy } from '../support/refusal.ts';
import { delivery, quietWebhooks } from './deliveries.ts';

const sent = delivery(buyInitBody({ emoji: '😀' }));

/** An inbox that answers always the same, and what it was given. */
function inboxThat(receive: Inbox['receive']): { inbox: Inbox; given: Delivery[] } {
  const given: Delivery[] = [];
  const inbox: Inbox = {
    receive: (one, handle) => {
      given.push(one);
      return receive(one, handle);
    },
  };
  return { inbox, given };
}

describe('an inbox of your own', () => {
  it.each([
    ['text', sent],
    ['bytes', Buffer.from(sent)],
  ])('gets what is needed to verify it again later, from %s', async (_, body) => {
    const { inbox, given } = inboxThat(async () => 'stored');
    await quietWebhooks({ inbox })
      .onAny(() => {})
      .receive(body);
    const [one] = given;
    expect(given).toHaveLength(1);
    expect(one).toEqual({
      name: 'event.buy.init',
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      key: { index: 0 },
      body: sent,
    });
    expect(verifyBody(one?.body ?? '', { key: orderKey }).value.emoji).toBe('😀');
  });

  it('learns that a handler failed, and the delivery failed unless it says otherwise', async () => {
    const failure = new Error('no');
    const failing = () => Promise.reject(failure);
    const passing = inboxThat(async (_, handle) => {
      await handle();
      return 'handled';
    });
    const keeping = inboxThat(async (_, handle) => {
      await handle().catch(() => {});
      return 'stored';
    });
    const passed = await quietWebhooks({ inbox: passing.inbox }).onAny(failing).receive(sent);
    const keptBack = await quietWebhooks({ inbox: keeping.inbox }).onAny(failing).receive(sent);
    expect([passed, keptBack]).toMatchObject([{ kind: 'failed', error: failure }, { kind: 'stored' }]);
  });

  it.each<[string, Inbox['receive']]>([
    ['rejects', () => Promise.reject(new Error('disk full'))],
    [
      'throws',
      () => {
        throw new Error('disk full');
      },
    ],
  ])('that %s makes the delivery fail, and onError is told', async (_, receive) => {
    const onError = vi.fn();
    const { inbox } = inboxThat(receive);
    const outcome = await quietWebhooks({ inbox, onError })
      .onAny(() => {})
      .receive(sent);
    expect(outcome).toMatchObject({ kind: 'failed', status: 500, error: new Error('disk full') });
    expect(onError).toHaveBeenCalledOnce();
  });

  it.each([undefined, null, true, 'done', 'failed'])(
    'that answers %s, which is no answer, does not get the delivery acknowledged',
    async (answer) => {
      const { inbox } = inboxThat(async () => answer as unknown as 'stored');
      expect(
        await quietWebhooks({ inbox })
          .onAny(() => {})
          .receive(sent),
      ).toMatchObject({
        kind: 'failed',
        status: 500,
        error: {
          code: 'invalid_option',
          message: expect.stringContaining(
            'inbox.receive must resolve with one of handled, ignored, stored, duplicate, busy.',
          ),
        },
      });
    },
  );

  it.each([{}, 'memory', () => {}, null])('is refused when it is %s', (inbox) => {
    const wrong = inbox as unknown as Inbox;
    expect(thrownBy(() => quietWebhooks({ inbox: wrong }))).toMatchObject({
      ...{ name: 'ConfigurationError', code: 'invalid_option' },
      message: expect.stringContaining('inbox.receive'),
    });
  });
});
