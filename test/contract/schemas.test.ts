import { createHmac } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { orderEvent } from '../../src/events/order-event.ts';
import { parseOrderEvent } from '../../src/events/parse-order-event.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/internal/json.ts';
import { readConformanceVectors } from '../devtools/testing/conformance.ts';
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
      { numRuns: 2_000 },
    );
  });
});

describe('a schema that says something else is noticed', () => {
  const mutations = [...schemas].flatMap(([name, schema]): [string, string, JsonObject][] => {
    const members = describedMembers(schema);
    if (members.length === 0) return [[name, 'any data as text', { ...schema, type: 'string' }]];
    return members.flatMap((member): [string, string, JsonObject][] => [
      [name, `${member} renamed`, renamed(schema, member.split('.'))],
      [name, `${member} of another type`, retyped(schema, member.split('.'))],
    ]);
  });

  it('in every member of every schema', () => {
    expect(mutations.length).toBeGreaterThan(250);
    const unnoticed = mutations.filter(([name, , schema]) => !isNoticed(name, schema));
    expect(unnoticed.map(([name, what]) => `${name}: ${what}`)).toEqual([]);
  });

  /** One for each of hundreds would take half a minute. */
  const ajv = new Ajv2020({
    strict: false,
    validateSchema: false,
    validateFormats: false,
    code: { optimize: false },
  });

  function isNoticed(name: string, schema: JsonObject): boolean {
    const described = describedMembers(schema);
    return examples
      .filter((each) => schemaName(each.schema) === name)
      .map((each) => exampleValue(each, schemas))
      .some(
        (value) =>
          membersIn(value).some((member) => !described.includes(member)) || !ajv.validate(schema, value),
      );
  }
});

function renamed(schema: JsonObject, path: readonly string[]): JsonObject {
  return changeMember(schema, path, (properties, name) => {
    const { [name]: member, ...others } = properties;
    return { ...others, ...(member !== undefined && { [`${name}_`]: member }) };
  });
}

function retyped(schema: JsonObject, path: readonly string[]): JsonObject {
  return changeMember(schema, path, (properties, name) => {
    const type = JSON.stringify(properties[name]).includes('"type":"boolean"') ? 'string' : 'boolean';
    return { ...properties, [name]: { type } };
  });
}

/** The schema with the properties changed in which the path ends, in every branch that has them. */
function changeMember(
  schema: JsonObject,
  path: readonly string[],
  change: (properties: JsonObject, name: string) => JsonObject,
): JsonObject {
  const [name = '', ...rest] = path;
  const branches = Object.entries(schema).map(([key, value]) => {
    const isChoice = (key === 'oneOf' || key === 'anyOf') && Array.isArray(value);
    if (!isChoice) return [key, value];
    return [key, value.map((each) => (isJsonObject(each) ? changeMember(each, path, change) : each))];
  });
  const changed: JsonObject = Object.fromEntries(branches);
  const { properties, required } = changed;
  if (!isJsonObject(properties)) return changed;
  const member = properties[name];
  if (!isJsonObject(member)) return changed;
  if (rest.length > 0) {
    return { ...changed, properties: { ...properties, [name]: changeMember(member, rest, change) } };
  }
  const changedProperties = change(properties, name);
  const names = Array.isArray(required)
    ? required.map((each) => (String(each) in changedProperties ? each : `${each}_`))
    : [];
  return { ...changed, properties: changedProperties, ...(required !== undefined && { required: names }) };
}

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
