import { describe, expect, it } from 'vitest';
import { readState, writeState } from '../../src/keys/rotation-state.ts';
import { generation } from '../credentials/keys.ts';
import { refusal, thrownBy } from '../support/refusal.ts';

const keys = { number: 1, receivedAt: 5, credentials: generation(1) };
const request = { id: 'r-1', at: 6, answered: false };
const stored = (members: object) => JSON.stringify({ version: 1, retired: [], ...members });

describe('the stored text of a rotation', () => {
  it('is read as it was written, with members of a later version', () => {
    const state = {
      origin: { rotation: 'first', partnerId: 'P-1', later: 1 },
      current: { ...keys, number: 3, confirmedAt: 8, laterCredentials: { later: 2 } },
      pending: { ...keys, number: 4, later: 3 },
      request: { ...request, later: 4 },
      retired: [
        { ...keys, number: 2, retiredAt: 7, matchedAt: 9 },
        { ...keys, retiredAt: 6 },
      ],
      later: 5,
    };
    expect(readState(writeState(state))).toMatchObject(state);
  });

  it('without keys is a rotation that has not begun', () => {
    expect(readState(stored({}))).toEqual({ retired: [] });
  });

  it.each<[string, string]>([
    ['sk_partner_1', 'it is no JSON object'],
    ['[]', 'it is no JSON object'],
    ['{"retired":[]}', 'it has another version'],
    ['{"version":1}', 'retired is not a list'],
    [stored({ current: [] }), 'current is not an object'],
    [stored({ retired: [{ ...keys, retiredAt: 5 }, null] }), 'retired[1] is not an object'],
    [stored({ current: { ...keys, number: '1' } }), 'current.number is not a number'],
    [stored({ current: { ...keys, confirmedAt: '5' } }), 'current.confirmedAt is not a number'],
    [stored({ pending: { ...keys, credentials: {} } }), 'pending.credentials are not credentials'],
    [
      stored({ retired: [{ ...keys, retiredAt: 5, matchedAt: '5' }] }),
      'retired[0].matchedAt is not a number',
    ],
    [stored({ request: { ...request, id: 1 } }), 'request is malformed'],
    [stored({ request: { ...request, at: '6' } }), 'request.at is not a number'],
    [stored({ origin: {} }), 'origin names no rotation'],
  ])('%s is refused with the place of the fault', (text, fault) => {
    const error = thrownBy(() => readState(text));
    expect(error).toMatchObject({ code: 'key_storage_invalid' });
    expect(String(error)).toContain(`The stored text is not the state of a key rotation: ${fault}.`);
  });

  it('of a later version is refused as such', () => {
    const later = () => readState('{"version":2,"retired":[]}');
    expect(refusal(later)).toBe('StoreError newer_format');
    expect(String(thrownBy(later))).toContain('The state of a key rotation');
  });
});
