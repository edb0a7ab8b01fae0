import { describe, expect, it } from 'vitest';
import { queueInbox } from '../../src/inbox/queue/queue-inbox.ts';
import { storeInbox } from '../../src/inbox/store/store-inbox.ts';
import type { JsonValue } from '../../src/internal/json.ts';
import { createKeyRotation } from '../../src/keys/create-key-rotation.ts';
import type { KeyStorage } from '../../src/keys/rotation-state.ts';
import { generation } from '../credentials/keys.ts';
import { bench, event, order } from '../orders/service.ts';
import { requestError } from '../otp/support.ts';
import { buyCreditedBody, buyInitBody } from '../support/bodies.ts';
import { lostMarks, marked, newerStore } from './newer-store.ts';
import { eventOf, receiverOn, until, writtenAt } from './subjects.ts';

const forever = new Promise<never>(() => {});

/** A key of an index without its name and its time: the record moves from one to the other. */
const indexOf = (key: string) => /^inbox\/(?:due|alone|dead)\/\d+\/(\w+)$/.exec(key)?.[1];
/** All that is known of a handled delivery is its digest. */
const isHandled = (value: JsonValue) => Object(value).handled === true;

describe('a process keeps what a newer version has written into', () => {
  it('a delivery in the record inbox, until it is handled or discarded', async () => {
    let now = writtenAt;
    const newer = newerStore({ now: () => now, mayForget: isHandled, familyOf: indexOf });
    const options = { now: () => now, maxAttempts: 2 };
    const open = () => storeInbox({ store: newer.store, role: 'drain', ...options });
    const fails = (id: string) => {
      if (id.startsWith('bad')) throw new Error('no such order');
    };

    const hanging = open();
    const first = receiverOn({ inbox: hanging }, () => forever);
    for (const id of ['lost', 'bad-lost']) await first.webhooks.receive(eventOf(id));
    void hanging.drain();
    await until(() => first.contexts.size === 2);
    // As if the process had died.
    now += 600_000;
    const inbox = open();
    const { webhooks, handled } = receiverOn({ inbox }, fails);
    for (const id of ['good', 'bad', 'bad-discarded']) await webhooks.receive(eventOf(id));
    for (let tries = 0; tries < 3; tries++) {
      await inbox.drain();
      now += 600_000;
    }
    await hanging.stop({ timeoutMs: 0 });
    const dead = await inbox.deadLetters({ withBody: true });
    expect(dead).toHaveLength(3);
    for (const { digest, body } of dead)
      await (body?.includes('discarded') ? inbox.discard(digest) : inbox.replay(digest));
    const stopped = open();
    receiverOn(
      { inbox: stopped },
      (_, { signal }) => new Promise((resolve) => signal?.addEventListener('abort', resolve)),
    );
    await stopped.drain({ timeLimitMs: 1_000 });
    await inbox.drain();
    expect(handled.toSorted()).toEqual(['good', 'lost']);
    expect(newer.lost).toEqual([]);
    const families = new Set([...newer.rewritten].map((key) => key.split('/').slice(0, 2).join('/')));
    expect(families).toEqual(new Set(['inbox/delivery', 'inbox/alone', 'inbox/due', 'inbox/dead']));
  });

  it('the guard of a queue', async () => {
    const { store, lost, rewritten } = newerStore({ now: () => writtenAt });
    const messages: unknown[] = [];
    const send = async (message: unknown) => messages.push(message);
    const inbox = queueInbox({ send, store, now: () => writtenAt, maxAttempts: 2 });
    const { webhooks } = receiverOn({ inbox }, (id) => {
      if (id === 'bad') throw new Error('no such order');
    });
    for (const id of ['good', 'bad']) await webhooks.receive(eventOf(id));
    const results: string[] = [];
    for (const index of [0, 1, 1]) results.push(await inbox.handleMessage(messages[index]));
    expect(results).toEqual(['done', 'retry', 'dead']);
    expect(lost).toEqual([]);
    expect(rewritten.size).toBe(2);
  });

  it('an order, whatever happens to it', async () => {
    const { journal, service, store, clock, another } = bench({}, (now) => {
      const newer = newerStore({ now });
      return Object.assign(newer.store, { newer });
    });
    const { newer } = store as typeof store & { newer: ReturnType<typeof newerStore> };
    const named = (id: string) => ({ ...order, partner_order_id: id });
    const send = (id: string, ...answers: typeof service.next) => {
      service.next.push(...answers);
      return journal.create(named(id), { merchant: 'ngn' });
    };
    await journal.prepare(named('replaced'));
    await journal.prepare({ ...named('replaced'), fiat_amount: '7' }, { replace: true });
    await journal.create({ ...named('replaced'), fiat_amount: '7' });
    for (const id of ['by-event', 'by-person', 'given-up', 'duplicate']) await send(id, 'lost');
    clock.now += 600_000;
    await journal.observe(event('by-event'));
    await journal.settle('by-person', 'accepted', 'seen');
    await journal.settle('given-up', 'abandoned', 'not there');
    await journal.observe(event('given-up'));
    service.next.push({ status: 409 });
    await another({ duplicateIds: 'refused' }).create(named('duplicate'), { merchant: 'ngn' });
    await send('refused', { status: 422 });
    await journal.create(named('refused'), { merchant: 'ngn', again: true });
    await send('not-sent', 'not-sent');
    await send('not-sent');
    const events = { partner_order_id: 'by-person' };
    await journal.observe(buyInitBody(events));
    await journal.observe(buyCreditedBody({ ...events, chain: 'usdc-matic' }));
    const seen = await journal.get('by-person');
    const digests = seen?.events?.filter(({ differences }) => differences).map(({ digest }) => digest);
    await journal.settle('by-person', 'accepted', 'the same chain', { events: digests });
    // Of the payload that was replaced before it was sent.
    expect(newer.lost).toEqual([expect.stringMatching(/\.ordered$/)]);
    expect([...newer.rewritten].filter((key) => key.startsWith('orders:order:'))).toHaveLength(7);
    // And shows none of it.
    expect(await journal.get('by-event')).not.toHaveProperty('written_by_a_newer_version');
  });

  it('the state of a rotation, its keys included', async () => {
    let text: string | undefined;
    let now = writtenAt;
    const lost: string[] = [];
    const read = (json: string | undefined): JsonValue | undefined => json && JSON.parse(json);
    const storage: KeyStorage = {
      read: async () => text,
      async update(change) {
        const next = change(text);
        if (next === undefined) return;
        lost.push(...movedMarks(read(text), read(next)));
        text = JSON.stringify(marked(read(next) ?? null));
      },
    };
    const outcomes: (Error | undefined)[] = [requestError('unknown'), requestError('refused'), undefined];
    const exchange = {
      async regenerateKeys() {
        const failure = outcomes.shift();
        if (failure !== undefined) throw failure;
        // Sound: nothing reads the reply.
        return {} as never;
      },
    };
    const rotation = createKeyRotation({ exchange, storage, now: () => now });
    const partner = { email: 'dev@acme.example', partner_code: 'acme' };
    await rotation.receive(generation(1));
    for (let count = 0; count < 3; count++)
      await rotation.request(partner, { again: count > 0 }).catch(() => {});
    await rotation.receive(generation('mistyped'));
    await rotation.receive(generation(2));
    await rotation.promote();
    now += 7_200_000;
    const { verifying, matched } = await rotation.credentials();
    await matched?.(verifying.length - 1);
    await rotation.receive(generation(1));
    await rotation.receive(generation(2));
    expect(lost).toEqual([]);
    expect((await rotation.credentials()).signing.partnerSecretKey).toBe('sk_partner_2');
  });
});

/** Sets of keys move: what a newer version has written beside the keys of one has to be beside them afterwards. */
function movedMarks(before: JsonValue | undefined, after: JsonValue | undefined): string[] {
  const [earlier, later] = [Object(before), Object(after)];
  const setsOf = ({ current, pending, retired = [] }: Record<string, JsonValue[]>) =>
    new Map([current, pending, ...retired].flatMap((each) => (each ? [[numberOf(each), each]] : [])));
  const sets = setsOf(later);
  const moved = [...setsOf(earlier)].flatMap(([number, each]) =>
    lostMarks(each, sets.get(number)).map((path) => `keys ${number}: ${path}`),
  );
  // A request that is made again is another one.
  const request = earlier.request?.id === later.request?.id ? earlier.request : undefined;
  const state = lostMarks({ ...earlier, request, current: 0, pending: 0, retired: 0 }, later);
  return [...moved, ...(before === undefined ? [] : state)];
}

function numberOf(keys: JsonValue): number {
  return Number(Object(keys).number);
}
