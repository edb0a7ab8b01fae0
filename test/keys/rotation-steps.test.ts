import { describe, expect, it } from 'vitest';
import { createKeyRotation, type KeyRotationOptions } from '../../src/keys/create-key-rotation.ts';
import type { KeyStorage } from '../../src/keys/rotation-state.ts';
import { storedKeys } from '../../src/keys/stored-keys.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { partner } from '../client/clients.ts';
import { generation } from '../credentials/keys.ts';

const hour = 3_600_000;
const reply = { status: 200, headers: new Headers(), body: {}, decimal: () => undefined };
const exchange = { regenerateKeys: async () => reply };

/** A rotation in memory, under a clock of its own. */
function setUp(options: Partial<KeyRotationOptions> = {}) {
  const clock = { now: 1_700_000_000_000 };
  const storage: KeyStorage = storedKeys({ store: memoryStore() });
  /** As if another process had started. */
  const start = (other: Partial<KeyRotationOptions> = {}) =>
    createKeyRotation({ storage, exchange, now: () => clock.now, ...options, ...other });
  return { clock, storage, start, rotation: start() };
}

/** The keys 1 to `last`, each promoted. */
async function rotated(last: number, options?: Partial<KeyRotationOptions>) {
  const started = setUp(options);
  for (let name = 1; name <= last; name++) {
    await started.rotation.receive(generation(name));
    await started.rotation.promote();
  }
  return started;
}

describe('received keys', () => {
  it('change nothing when they are the current ones, and none are awaited', async () => {
    const { rotation, storage } = await rotated(1);
    const before = await storage.read();
    await rotation.receive(generation(1));
    expect(await storage.read()).toBe(before);
  });

  it('are no longer in doubt in any process once a delivery has matched them after promote', async () => {
    const { rotation, start } = await rotated(2);
    const sets = await rotation.credentials();
    expect(sets.unconfirmed?.()).toBe(true);
    await sets.matched?.(0);
    expect((await start().credentials()).unconfirmed?.()).toBe(false);
  });

  it('stay in doubt when the match was of keys received before them', async () => {
    const { rotation, start } = await rotated(2);
    const sets = await rotation.credentials();
    await start().receive(generation(3));
    await sets.matched?.(0);
    expect((await start().credentials()).unconfirmed?.()).toBe(true);
  });
});

describe('a request for keys', () => {
  it('that is answered after its keys were promoted is over', async () => {
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const { promise: answer, resolve: accept } = Promise.withResolvers<typeof reply>();
    const slow = {
      regenerateKeys() {
        ask();
        return answer;
      },
    };
    const { rotation, start } = await rotated(1);
    const requested = start({ exchange: slow }).request(partner);
    await asked;
    await rotation.receive(generation(2));
    await rotation.promote();
    accept(reply);
    expect((await requested).status).toBe(200);
    expect((await rotation.status()).step).toBe('idle');
  });
});

describe('replaced keys', () => {
  it('verify for overlapMs and a quarter of it, up to the last millisecond', async () => {
    const { clock, rotation } = await rotated(2, { overlapMs: 1_000 });
    const until = (await rotation.status()).keys[1]?.verifiesUntil;
    expect(until).toBe(clock.now + 1_250);
    clock.now += 1_250;
    expect((await rotation.credentials()).verifying).toHaveLength(2);
    clock.now += 1;
    expect((await rotation.credentials()).verifying).toHaveLength(1);
  });

  const matchedAt = async ({ start }: ReturnType<typeof setUp>) =>
    (await start().status()).keys.map((each) => each.matchedAt);

  it('are prolonged by matches of their own alone', async () => {
    const started = await rotated(3);
    const sets = await started.rotation.credentials();
    // The keys that sign, and then the oldest.
    await sets.matched?.(0);
    expect(await matchedAt(started)).toEqual([undefined, undefined, undefined]);
    await sets.matched?.(2);
    expect(await matchedAt(started)).toEqual([undefined, undefined, started.clock.now]);
    expect((await started.rotation.status()).keys[1]).not.toHaveProperty('matchedAt');
  });

  it('are recorded as matched once an hour, by all processes together', async () => {
    const started = await rotated(2);
    const { clock, start } = started;
    const begun = clock.now;
    const [one, other] = [await start().credentials(), await start().credentials()];
    await one.matched?.(1);
    clock.now += hour - 1;
    await one.matched?.(1);
    await other.matched?.(1);
    expect(await matchedAt(started)).toEqual([undefined, begun]);
    clock.now += 1;
    await one.matched?.(1);
    expect(await matchedAt(started)).toEqual([undefined, begun + hour]);
  });

  it('may be matched after they were forgotten: then nothing is stored', async () => {
    const { clock, rotation, storage, start } = await rotated(2);
    const sets = await rotation.credentials();
    clock.now += 48 * hour;
    await start().receive(generation(3));
    await start().promote();
    const before = await storage.read();
    await sets.matched?.(1);
    expect(await storage.read()).toBe(before);
  });
});
