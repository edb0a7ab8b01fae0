import * as fc from 'fast-check';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/internal/json.ts';

/** Values that a schema of the control API allows. It knows the words that this document uses, and no others. */
export function allowedBy(schema: JsonObject, schemas: JsonObject): fc.Arbitrary<unknown> {
  const inner = (given: JsonValue | undefined) => {
    if (!isJsonObject(given)) throw new Error('A schema is missing.');
    return allowedBy(given, schemas);
  };
  const { $ref, anyOf, enum: values, const: constant, type, pattern } = schema;
  if (typeof $ref === 'string') return inner(schemas[$ref.replace('#/components/schemas/', '')]);
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map(inner));
  if (Array.isArray(values)) return fc.constantFrom(...values);
  if (constant !== undefined) return fc.constant(constant);
  if (type === 'integer' || type === 'number') return numbersOf(schema);
  if (type === 'boolean') return fc.boolean();
  if (type === 'array') return fc.array(inner(schema.items), { maxLength: 3 });
  if (type === 'string') {
    if (schema.format === 'uri') return fc.constant('http://127.0.0.1:1/');
    const text = typeof pattern === 'string' ? fc.stringMatching(new RegExp(pattern)) : fc.string();
    return text.map((each) => each.slice(0, 100));
  }
  if (type === 'object') return objectsOf(schema, inner);
  throw new Error(`The schema has words that this test does not know: ${JSON.stringify(schema)}`);
}

function numbersOf({ type, minimum, maximum }: JsonObject): fc.Arbitrary<number> {
  const bounds = {
    ...(typeof minimum === 'number' && { min: minimum }),
    ...(typeof maximum === 'number' && { max: maximum }),
  };
  if (type === 'integer') return fc.integer({ min: 0, max: 2 ** 31 - 1, ...bounds });
  return fc.double({ min: 0, max: 1, noNaN: true, ...bounds });
}

function objectsOf(
  { properties = {}, required = [], propertyNames, additionalProperties }: JsonObject,
  inner: (schema: JsonValue | undefined) => fc.Arbitrary<unknown>,
): fc.Arbitrary<unknown> {
  if (!isJsonObject(properties) || !Array.isArray(required)) throw new Error('It is no schema of an object.');
  if (isJsonObject(additionalProperties)) {
    const names = isJsonObject(propertyNames) ? inner(propertyNames).map(String) : fc.string();
    return fc.dictionary(names, inner(additionalProperties), { maxKeys: 3, noNullPrototype: true });
  }
  const members = Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, inner(each)]));
  const requiredKeys = required.map(String);
  return fc.record(members, { requiredKeys, noNullPrototype: true });
}
