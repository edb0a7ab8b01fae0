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

describe('parseOrderEvent, with zod/mini, finds what the schemas of zod find, in the same words,', () => {
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
      { numRuns: times(200, 3_000) },
    );
  });
});

describe('parseOrderEvent', () => {
  const change = fc.tuple(
    fc.constantFrom(...paths, ['event_name']),
    fc.oneof(
      fc.constantFrom(
        ...values,
        'event buy init',
        'buy event close',
        '15000.50',
        'paid',
        'no_kyc',
        'Refunded',
      ),
      fc.jsonValue() as fc.Arbitrary<JsonValue>,
    ),
  );
  const anyEvent = fc
    .tuple(fc.constantFrom(...Object.values(bodies)), fc.array(change, { maxLength: 6 }))
    .map(([makeBody, changes]) =>
      changes.reduce((body, [path, value]) => changed(body, path, value), makeBody() as JsonObject),
    );

  it('gives a conforming event as it is', () => {
    fc.assert(
      fc.property(anyEvent, fc.boolean(), (body, withText) => {
        fc.pre(schemas.orderEvent.safeParse(body).success);
        const parsed = parseOrderEvent(body, { text: withText ? JSON.stringify(body) : undefined });
        // Open text in another case is read.
        fc.pre(parsed.kind !== 'known' || !parsed.readings.some(({ path }) => isOpen(path)));
        expect(parsed).toEqual({ kind: 'known', event: body, body, readings: [] });
      }),
      { numRuns: times(200, 3_000) },
    );
  });

  it('gives events that the schema accepts, and changes nothing but what stands in the readings', () => {
    fc.assert(
      fc.property(anyEvent, (body) => {
        const parsed = parseOrderEvent(body, { text: JSON.stringify(body) });
        if (parsed.kind !== 'known') return;
        expect(schemas.orderEvent.safeParse(parsed.event).error).toBeUndefined();
        const restored = parsed.readings.reduce(
          (event, { path }) => changed(event, path, valueAt(body, path)),
          parsed.event as unknown as JsonObject,
        );
        expect(restored).toEqual(body);
      }),
      { numRuns: times(300, 5_000) },
    );
  });

  it('never throws, whatever the value and its text are', () => {
    const anyText = fc.oneof(
      fc.string(),
      fc.json(),
      fc.constantFrom('{"pair":"\\', '{"a":{"', '{,', '{"pair":1,'),
    );
    fc.assert(
      fc.property(fc.oneof(fc.anything(), anyEvent), anyText, (value, text) => {
        expect(() => parseOrderEvent(value, { text })).not.toThrow();
      }),
      { numRuns: times(300, 10_000) },
    );
  });
});

function valueAt(body: JsonObject, [name = '', inner]: readonly string[]): JsonValue | undefined {
  const member = Object.hasOwn(body, name) ? body[name] : undefined;
  return inner === undefined ? member : valueAt(member as JsonObject, [inner]);
}

/** A member whose type has any text. */
function isOpen(path: readonly string[]): boolean {
  return ['kyc_error_type', 'meta_data.status', 'fiat_payment_status', 'crypto_payment_status'].includes(
    path.join('.'),
  );
}

/** What the schema refuses is refused, with its issues alone, or read: then the event is one that the schema accepts. */
function expectSame(body: JsonObject): void {
  const issues = readable(schemas.orderEvent.safeParse(body).error?.issues ?? []);
  const parsed = parseOrderEvent(body);
  if (parsed.kind === 'nonconforming') {
    expect(parsed.issues.length).toBeGreaterThan(0);
    expect(issues).toEqual(expect.arrayContaining(readable(parsed.issues)));
    return;
  }
  if (parsed.kind !== 'known') throw new Error('The name of the event is not published.');
  if (issues.length > 0) expect(parsed.readings.length).toBeGreaterThan(0);
  expect(schemas.orderEvent.safeParse(parsed.event).success).toBe(true);
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
