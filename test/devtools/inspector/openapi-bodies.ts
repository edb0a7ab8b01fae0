import * as fc from 'fast-check';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/internal/json.ts';

/** Values that a schema of the control API allows. It knows the words that this document uses, and no others. */
export function allowedBy(schema: JsonValue | undefined): fc.Arbitrary<unknown> {
  if (!isJsonObject(schema)) throw new Error('A schema is missing.');
  const { anyOf, enum: values, const: constant, type } = schema;
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map(allowedBy));
  if (Array.isArray(values)) return fc.constantFrom(...values);
  if (constant !== undefined) return fc.constant(constant);
  if (type === 'integer' || type === 'number') return numbersOf(schema);
  if (type === 'string' && schema.format === 'uri') return fc.constant('http://127.0.0.1:1/');
  if (type === 'string') return fc.string({ minLength: schema.minLength === 1 ? 1 : 0, maxLength: 100 });
  if (type === 'object') return objectsOf(schema);
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

function objectsOf({ properties = {}, required = [] }: JsonObject): fc.Arbitrary<unknown> {
  if (!isJsonObject(properties) || !Array.isArray(required)) throw new Error('It is no schema of an object.');
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, each]) => [name, allowedBy(each)]),
  );
  return fc.record(members, { requiredKeys: required.map(String), noNullPrototype: true });
}
