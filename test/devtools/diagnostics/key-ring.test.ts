import { describe, expect, it } from 'vitest';
import { createKeyRing } from '../../../src/credentials/create-key-ring.ts';
import { attackReceiver } from '../../../src/devtools/diagnostics/attack/attack-receiver.ts';
import { learn } from '../../../src/devtools/diagnostics/learn/learn-from-samples.ts';
import { explainMismatch } from '../../../src/devtools/diagnostics/mismatch/explain-mismatch.ts';
import { createWebhooks } from '../../../src/webhooks/create-webhooks.ts';
import { eventSignedBy, generation } from '../../credentials/keys.ts';

const ring = () => createKeyRing({ load: () => [generation(2), generation(1)] });
const read = async () => {
  const made = ring();
  await made.reload();
  return made;
};

describe('diagnostics take the keys that a ring has read', () => {
  it('to learn the scheme, with the keys of any generation', async () => {
    const deliveries = [1, 2, 3].map((name) => ({ body: eventSignedBy(name) }));
    const learnt = await learn({ deliveries, credentials: await read() });
    expect(learnt.deliveries).toEqual({ genuine: 2, others: 1 });
  });

  it('to explain a mismatch', async () => {
    const credentials = await read();
    const idOf = (name: number) => explainMismatch(eventSignedBy(name), { credentials }).findings[0]?.id;
    expect([idOf(2), idOf(1), idOf(3)]).toEqual(['no-mismatch', 'other-key', 'nothing-fits']);
  });

  it('to attack a receiver, with those that sign', async () => {
    const receiver = createWebhooks({ credentials: generation(2) }).onAny(() => {});
    const { results } = await attackReceiver('http://localhost/orders', {
      credentials: await read(),
      fetch: (input, init) => receiver.fetch(new Request(input, init)),
      only: ['forged'],
    });
    expect(results.map(({ id, verdict }) => [id, verdict])).toEqual([
      ['authentic', 'ok'],
      ['forged', 'ok'],
    ]);
  });

  it('and find nothing wrong with a receiver whose ring cannot rule out newer keys yet', async () => {
    const receiver = createWebhooks({ credentials: await read(), onRefused: () => {} }).onAny(() => {});
    const { results } = await attackReceiver('http://localhost/orders', {
      credentials: generation(2),
      fetch: (input, init) => receiver.fetch(new Request(input, init)),
      only: ['unsigned', 'forged', 'altered-amount', 'repeated', 'authentic-large'],
    });
    expect(results.filter(({ verdict }) => verdict === 'broken' || verdict === 'weak')).toEqual([]);
    expect(results.find(({ id }) => id === 'forged')).toMatchObject({ answered: '503', verdict: 'ok' });
  });
});

describe('a ring that has not read its keys yet', () => {
  it('gives no secret to search with', () => {
    expect(explainMismatch(eventSignedBy(1), { credentials: ring() }).findings[0]?.id).toBe('no-secret');
  });

  const unread = {
    code: 'keys_unavailable',
    message: expect.stringContaining(
      'The key ring has not read its keys yet. Load the keys first: await reload() of the ring',
    ),
  };

  it('is a clear error for an attack', async () => {
    const credentials = ring();
    await expect(attackReceiver('http://localhost/orders', { credentials })).rejects.toMatchObject(unread);
  });
});
