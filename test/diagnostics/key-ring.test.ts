import { describe, expect, it } from 'vitest';
import { createKeyRing } from '../../src/credentials/create-key-ring.ts';
import { detectScheme } from '../../src/diagnostics/detection/detect-scheme.ts';
import { explainMismatch } from '../../src/diagnostics/mismatch/explain-mismatch.ts';
import { checkPin, pinScheme } from '../../src/diagnostics/pin/pin-scheme.ts';
import { defaultScheme } from '../../src/signature/signature-scheme.ts';
import { eventSignedBy, generation } from '../credentials/keys.ts';
import { thrownBy } from '../errors/refusal.ts';

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
});

describe('a ring that has not read its keys yet', () => {
  it('gives no secret to search with', () => {
    expect(detectScheme(eventSignedBy(1), ring()).verdict).toBe('unusable');
    expect(explainMismatch(eventSignedBy(1), { credentials: ring() }).findings[0]?.code).toBe('no-secret');
  });

  it('is a clear error for a pin', () => {
    const options = { scheme: defaultScheme, samples: eventSignedBy(1), credentials: ring() };
    expect(thrownBy(() => pinScheme(options))).toMatchObject({
      code: 'keys_unavailable',
      message: expect.stringContaining('await ring.reload() first'),
    });
  });
});
