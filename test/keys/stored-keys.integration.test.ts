import { expect, it } from 'vitest';
import { createKeyRotation } from '../../src/keys/create-key-rotation.ts';
import { storedKeys } from '../../src/keys/stored-keys.ts';
import { partner } from '../client/clients.ts';
import { generation } from '../credentials/keys.ts';
import { storeKinds } from '../store/store-kinds.ts';

it.each(storeKinds())(
  'of ten processes over $name one alone asks for keys, and none is lost',
  async ({ open }) => {
    const storage = storedKeys({ store: open(Date.now) });
    let asked = 0;
    const regenerateKeys = async () => {
      asked++;
      return { status: 200, headers: new Headers(), body: {}, decimal: () => undefined };
    };
    const processes = Array.from({ length: 10 }, () =>
      createKeyRotation({ storage, exchange: { regenerateKeys } }),
    );
    await processes[0]?.receive(generation(0));
    const requests = await Promise.allSettled(processes.map(({ request }) => request(partner)));
    expect([asked, requests.filter(({ status }) => status === 'fulfilled').length]).toEqual([1, 1]);
    await Promise.all(processes.map(({ receive }, index) => receive(generation(index + 1))));
    const { signing, verifying } = await createKeyRotation({ storage }).credentials();
    expect(signing.partnerPublicKey).toBe('pk_partner_0');
    expect(new Set(verifying.map(({ partnerPublicKey }) => partnerPublicKey)).size).toBe(11);
  },
);
