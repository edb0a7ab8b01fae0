import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import * as schemas from '../../src/events/order-event.ts';
import { parseOrderEvent } from '../../src/events/parse-order-event.ts';
import type { JsonObject, JsonValue } from '../../src/internal/json.ts';
import {
  buyCloseBody,
  buyCreditedBody,
  buyFiatReceivedBody,
  buyInitBody,
  buyNoKycBody,
  buyThirdPartyErrorBody,
  buyThirdPartyPaymentBody,
} from '../support/bodies.ts';
import { times } from '../support/repeat.ts';

const bodies = {
  init: buyInitBody,
  'fiat received': buyFiatReceivedBody,
  'no KYC': buyNoKycBody,
  'third-party payment': buyThirdPartyPaymentBody,
  'third-party error, empty': buyThirdPartyErrorBody,
  'third-party error, full': () => ({
    ...buyFiatReceivedBody(),
    event_name: 'event.buy.third_party_error',
  }),
  credited: buyCreditedBody,
  close: buyCloseBody,
};

/** Every text that some schema asks for, and what JSON can hold in its place. */
const values: readonly (JsonValue | undefined)[] = [
  ...['PENDING', 'PAID', 'STARTED', 'Completed', 'COMPLETED', 'refunded', 'event.buy.init'],
  ...['NO_KYC', 'THIRD_PARTY_ERROR', 'THIRD_PARTY_PAYMENT'],
  ...['', ' ', 'paid', '1', '1e999', 'null', '__proto__', '\ud800'],
  ...[0, -0, 1.5, Infinity, -Infinity],
  ...[undefined, null, true, false],
  ...[[], ['PAID'], {}, { length: 1 }, { account_name: 1, email: null, status: [], fee: '1' }],
  JSON.parse('{"__proto__":{"email":"x"},"constructor":{"name":"String"}}'),
];

/** Every member of any event, nested ones too, read off the schemas. */
const paths = uniquePaths(
  Object.values(schemas).flatMap((schema) => (schema instanceof z.ZodObject ? pathsOf(schema) : [])),
);

describe('parseOrderEvent, with zod/mini, finds what the schemas of zod find, in the same words', () => {
  it('looks at every member that a schema has', () => {
    expect(paths.length).toBeGreaterThan(30);
    expect(paths).toContainEqual(['meta_data', 'fee']);
    expect(paths).toContainEqual(['transactional_kyc', 'last_name']);
  });

  it.each(Object.entries(bodies))('with any one member changed: %s', (_, makeBody) => {
    for (const path of paths) {
      for (const value of values) expectSame(changed(makeBody(), path, value));
    }
  });

  it('with many members changed', () => {
    const change = fc.tuple(
      fc.constantFrom(...paths),
      fc.oneof(fc.constantFrom(...values), fc.jsonValue() as fc.Arbitrary<JsonValue>),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.values(bodies)),
        fc.array(change, { maxLength: 12 }),
        (makeBody, changes) => {
          expectSame(changes.reduce((body, [path, value]) => changed(body, path, value), makeBody()));
        },
      ),
      { numRuns: times(700, 3_000) },
    );
  });
});

function expectSame(body: JsonObject): void {
  const expected = schemas.orderEvent.safeParse(body).error?.issues ?? [];
  const parsed = parseOrderEvent(body);
  expect(parsed.kind).toBe(expected.length === 0 ? 'known' : 'nonconforming');
  const found = parsed.kind === 'nonconforming' ? parsed.issues : [];
  expect(readable(found)).toEqual(readable(expected));
}

function readable(issues: readonly { path: readonly PropertyKey[]; message: string }[]): string[] {
  return issues.map(({ path, message }) => `${path.join('.')}: ${message}`).sort();
}

function pathsOf(schema: z.ZodObject): string[][] {
  return Object.entries(schema.shape).flatMap(([name, member]) => {
    const inner = unwrapped(member);
    const nested = inner instanceof z.ZodObject ? pathsOf(inner) : [];
    return [[name], ...nested.map((path) => [name, ...path])];
  });
}

function unwrapped(schema: unknown): unknown {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable
    ? unwrapped(schema.unwrap())
    : schema;
}

/** Without the name of the event: another one would be another event, or none. */
function uniquePaths(all: readonly string[][]): string[][] {
  const byText = new Map(all.map((path) => [path.join('.'), path]));
  byText.delete('event_name');
  return [...byText.values()];
}

/** A body with the member at a path replaced, or taken out; one inside of what is no object stays as it is. */
function changed(
  body: JsonObject,
  [name = '', ...inner]: readonly string[],
  value: JsonValue | undefined,
): JsonObject {
  if (inner.length > 0) {
    const outer = body[name];
    if (typeof outer !== 'object' || outer === null || Array.isArray(outer)) return body;
    return { ...body, [name]: changed(outer, inner, value) };
  }
  const { [name]: _, ...rest } = body;
  return value === undefined ? rest : { ...rest, [name]: value };
}
