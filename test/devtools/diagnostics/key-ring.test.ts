import { describe, expect, it } from 'vitest';
import { createKeyRing } from '../../../src/credentials/create-key-ring.ts';
import { attackReceiver } from '../../../src/devtools/diagnostics/attack/attack-receiver.ts';
import { detectScheme } from '../../../src/devtools/diagnostics/detection/detect-scheme.ts';
import { runDoctor } from '../../../src/devtools/diagnostics/doctor/run-doctor.ts';
import { explainMismatch } from '../../../src/devtools/diagnostics/mismatch/explain-mismatch.ts';
import { checkPin, pinScheme } from '../../../src/devtools/diagnostics/pin/pin-scheme.ts';
import { defaultScheme } from '../../../src/signature/signature-scheme.ts';
import { createWebhooks } from '../../../src/webhooks/create-webhooks.ts';
import { eventSignedBy, generation } from '../../credentials/keys.ts';
import { thrownBy } from '../../support/refusal.ts';
import { examined } from './doctor/examined.ts';

const ring = () => createKeyRing({ load: () => [generation(2), generation(1)] });
const read = async () => {
  const made = ring();
  await made.reload();
  return made;
};

describe('diagnostics take the keys that a ring has read', () => {
  it('to find a scheme, with the keys of any generation', async () => {
    const found = detectScheme([eventSignedBy(1), eventSignedBy(2)], await read());
    expect(found.survivors[0]?.scheme).toMatchObject({ construction: 'hmac' });
    expect(detectScheme(eventSignedBy(3), await read()).verdict).toBe('none');
  });

  it('to explain a mismatch', async () => {
    const credentials = await read();
    const codeOf = (name: number) => explainMismatch(eventSignedBy(name), { credentials }).findings[0]?.code;
    expect([codeOf(2), codeOf(1), codeOf(3)]).toEqual(['no-mismatch', 'other-key', 'nothing-fits']);
  });

  it('to pin a scheme, and to check the pin', async () => {
    const credentials = await read();
    const pin = pinScheme({ scheme: defaultScheme, samples: eventSignedBy(1), credentials });
    expect(checkPin(pin, { credentials, samples: eventSignedBy(2) })).toMatchObject({
      fixtures: 1,
      samples: 1,
    });
    expect(() => checkPin(pin, { credentials, samples: eventSignedBy(3) })).toThrow(/does not match/);
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
    });
    expect(results.filter(({ verdict }) => verdict === 'broken' || verdict === 'weak')).toEqual([]);
    expect(results.find(({ id }) => id === 'forged')).toMatchObject({ answered: '503', verdict: 'ok' });
  });

  it('to look for what is wrong, with those that sign', async () => {
    const check = await examined('keys', { credentials: await read() });
    expect(check).toEqual(await examined('keys', { credentials: generation(2) }));
  });
});

describe('a ring that has not read its keys yet', () => {
  it('gives no secret to search with', () => {
    expect(detectScheme(eventSignedBy(1), ring()).verdict).toBe('unusable');
    expect(explainMismatch(eventSignedBy(1), { credentials: ring() }).findings[0]?.code).toBe('no-secret');
  });

  const unread = {
    code: 'keys_unavailable',
    message: expect.stringContaining(
      'The key ring has not read its keys yet. Load the keys first: await reload() of the ring',
    ),
  };

  it('is a clear error for a pin', () => {
    const options = { scheme: defaultScheme, samples: eventSignedBy(1), credentials: ring() };
    expect(thrownBy(() => pinScheme(options))).toMatchObject(unread);
  });

  it('is a clear error for an attack and for the doctor', async () => {
    const credentials = ring();
    await expect(attackReceiver('http://localhost/orders', { credentials })).rejects.toMatchObject(unread);
    await expect(runDoctor({ credentials })).rejects.toMatchObject(unread);
  });
});
