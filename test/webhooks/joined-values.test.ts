import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/internal/json.ts';
import { pinnedText } from '../../src/signature/serializations.ts';
import { defaultScheme, type SignatureScheme } from '../../src/signature/signature-scheme.ts';
import { readUnverifiedBody } from '../../src/signature/verify-body.ts';
import { hmacHex } from '../support/bodies.ts';
import { times } from '../support/repeat.ts';
import { quietWebhooks } from './deliveries.ts';

const joined = ['query', 'values'] as const;

function schemeOf(serialization: SignatureScheme['serialization']): SignatureScheme {
  return { ...defaultScheme, serialization };
}

/** What becomes of each body in turn, and what the handler saw. */
async function receiveAll(serialization: SignatureScheme['serialization'], bodies: readonly string[]) {
  const seen: JsonObject[] = [];
  const deployment = { signature: schemeOf(serialization), wireNames: {} };
  const webhooks = quietWebhooks({ deployment }).onUnrecognized(
    (_, { body: { signature: _signature, ...rest } }) => {
      seen.push(rest);
    },
  );
  const kinds: string[] = [];
  for (const body of bodies) kinds.push((await webhooks.receive(body)).kind);
  return { kinds, seen };
}

describe.each(joined)('a captured body under %s', (serialization) => {
  // Signed by hand: the members in the order of their names, which is the order they are sent in.
  const signed = {
    query: 'amount=10.0&city=Yaoundé/Mvog&event_name=x&list=[1,{"b":2,"a":null}]',
    values: '10.0Yaoundé/Mvogx[1,{"b":2,"a":null}]',
  }[serialization];
  const signature = hmacHex(signed);
  const genuine = `{"amount":10.0,"city":"Yaoundé/Mvog","event_name":"x","list":[1,{"b":2,"a":null}],"signature":"${signature}"}`;

  it('with another type of a value is another delivery, since the signature does not pin it', async () => {
    const { kinds, seen } = await receiveAll(serialization, [genuine, genuine.replace('10.0', '"10.0"')]);
    expect(kinds).toEqual(['handled', 'handled']);
    expect(seen.map(({ amount }) => amount)).toEqual([10, '10.0']);
  });
});

it.each<[(typeof joined)[number], string, string, string]>([
  ['query', 'a=1&b=2&event_name=x', '{"a":"1&b=2","event_name":"x"', '{"a":"1","b":"2","event_name":"x"'],
  ['values', '123x', '{"a":"1","b":"23","event_name":"x"', '{"a":"12","b":"3","event_name":"x"'],
  ['values', '1e999x', '{"a":1e999,"b":null,"event_name":"x"', '{"a":null,"b":1e999,"event_name":"x"'],
  ['values', '-0x', '{"a":-0,"b":"","event_name":"x"', '{"a":"-","b":0,"event_name":"x"'],
])(
  'under %s a body whose text was moved across members is another delivery (%s)',
  async (serialization, signed, one, other) => {
    const bodies = [one, other].map((body) => `${body},"signature":"${hmacHex(signed)}"}`);
    expect((await receiveAll(serialization, bodies)).kinds).toEqual(['handled', 'handled']);
  },
);

it('under values a member with another name is another delivery, since names are not signed', async () => {
  const bodies = ['a', 'b'].map((name) => `{"${name}":1,"event_name":"x","signature":"${hmacHex('1x')}"}`);
  expect((await receiveAll('values', bodies)).kinds).toEqual(['handled', 'handled']);
});

describe('the pinned text of two bodies', () => {
  const text = fc.stringMatching(/^[ab"\\,:&=é]{0,3}$/);
  const leaf = fc.oneof(text, fc.integer({ min: 0, max: 11 }), fc.constantFrom(null, true, 0.5));
  const body = fc.dictionary(
    fc.constantFrom('a', 'b', 'ab', 'a=b', '1'),
    fc.oneof(leaf, fc.array(leaf, { maxLength: 2 })),
    {
      maxKeys: 3,
      noNullPrototype: true,
    },
  );
  const pinned = (serialization: SignatureScheme['serialization'], value: object, indent: number) => {
    const sent = JSON.stringify({ ...value, signature: '0'.repeat(128) }, null, indent);
    const scheme = schemeOf(serialization);
    const reread = readUnverifiedBody(sent, scheme);
    return { signed: reread.text, pinned: pinnedText(scheme, reread) };
  };

  it.each(joined)('is the same under %s when they mean the same, and only then', (serialization) => {
    fc.assert(
      fc.property(body, body, (one, other) => {
        expect(pinned(serialization, one, 0).pinned).toBe(pinned(serialization, one, 2).pinned);
        const [left, right] = [pinned(serialization, one, 0), pinned(serialization, other, 0)];
        const isSame = left.signed === right.signed && sortedEntries(one) === sortedEntries(other);
        expect(left.pinned === right.pinned).toBe(isSame);
      }),
      { numRuns: times(500, 2_000) },
    );
  });
});

function sortedEntries(value: object): string {
  return JSON.stringify(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
