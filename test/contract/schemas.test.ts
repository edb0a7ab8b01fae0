import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { orderEvent } from '../../src/events/order-event.ts';
import { parseOrderEvent } from '../../src/events/parse-order-event.ts';
import { isJsonObject, type JsonValue } from '../../src/internal/json.ts';
import { readConformanceVectors } from '../devtools/testing/conformance.ts';
import { times } from '../support/repeat.ts';
import {
  ContractCheck,
  describedMembers,
  exampleValue,
  membersIn,
  readExamples,
  readSchemas,
  schemaName,
} from './contract-check.ts';

const schemas = readSchemas();
const examples = readExamples();
const check = new ContractCheck(schemas);

describe('an example', () => {
  it.each(examples.filter(({ schema }) => schema !== null))(
    'is what its schema describes: $name',
    (example) => {
      const { schema } = example;
      const name = schemaName(schema) ?? '';
      const value = exampleValue(example, schemas);
      expect(check.problems(name, value)).toEqual([]);
      const described = describedMembers(schemas.get(name));
      expect(membersIn(value).filter((member) => !described.includes(member))).toEqual([]);
    },
  );

  it.each(examples.filter(({ keys }) => keys.purpose !== undefined))(
    'is signed as the contract says, by another implementation: $name',
    ({ text, keys }) => {
      const { purpose, partnerSecretKey = '', merchantSecretKey = '' } = keys;
      const key = purpose === 'order' ? merchantSecretKey + partnerSecretKey : partnerSecretKey;
      const [, unsigned, signature] = /^(.*),"signature":"([0-9a-f]{128})"\}$/s.exec(text) ?? [];
      expect(createHmac('sha512', key).update(`${unsigned}}`).digest('hex')).toBe(signature);
    },
  );

  it('has the keys of the vectors', () => {
    const { credentials } = readConformanceVectors().defaults;
    for (const { keys } of examples) {
      const { purpose: _, masterKey: __, apiKey: ___, ...own } = keys;
      expect(credentials).toMatchObject(own);
    }
  });

  it('is there for every described member', () => {
    for (const [name, schema] of schemas) {
      const used = examples
        .filter((each) => schemaName(each.schema) === name)
        .map((each) => exampleValue(each, schemas));
      const met = new Set(used.flatMap(membersIn));
      expect(describedMembers(schema).filter((member) => !met.has(member))).toEqual([]);
    }
  });

  it('of an event that is not described has no schema', () => {
    const unknown = examples.filter(({ schema }) => schema === null);
    expect(unknown.map(({ name }) => name)).toEqual(['unknown_event']);
    expect(parseOrderEvent(JSON.parse(unknown[0]?.text ?? '')).kind).toBe('unknown');
  });
});

describe('the schema of an event', () => {
  const lenient = new ContractCheck(schemas, { formats: false });
  const agrees = (value: JsonValue) => {
    const name = isJsonObject(value) ? value.event_name : undefined;
    if (typeof name !== 'string' || !lenient.has(name)) return;
    const problems = lenient.problems(name, value);
    expect(problems.length === 0, `${name} ${problems}`).toBe(orderEvent.safeParse(value).success);
  };

  it('says the same as the schemas of zod of every event among the vectors', () => {
    const { vectors } = readConformanceVectors();
    const values = vectors.filter(({ expect }) => expect === 'accept').map(({ bytes }) => readValue(bytes));
    const events = values.filter((value) => isJsonObject(value) && value.event_name !== undefined);
    expect(events.length).toBeGreaterThan(30);
    events.forEach(agrees);
  });

  it('says the same as the schemas of zod of events with any member changed or dropped', () => {
    const events = examples
      .filter(({ text }) => text.includes('event_name'))
      .map((each) => exampleValue(each, schemas));
    const changed = fc
      .constantFrom(...events)
      .chain((value) => fc.tuple(fc.constant(value), fc.constantFrom(...membersIn(value)), fc.jsonValue()));
    fc.assert(
      fc.property(changed, fc.boolean(), ([value, path, other], isDropped) => {
        if (path === 'signature') return;
        // Sound: fast-check makes JSON.
        agrees(withMember(value, path.split('.'), isDropped ? undefined : (other as JsonValue)));
      }),
      { numRuns: times(300, 2_000) },
    );
  });
});

function withMember(value: JsonValue, path: readonly string[], member: JsonValue | undefined): JsonValue {
  const [name = '', ...rest] = path;
  if (!isJsonObject(value)) return value;
  const { [name]: own, ...others } = value;
  if (rest.length > 0) return { ...value, [name]: withMember(own ?? null, rest, member) };
  return member === undefined ? others : { ...value, [name]: member };
}

function readValue(bytes: Uint8Array): JsonValue {
  return JSON.parse(new TextDecoder().decode(bytes));
}
