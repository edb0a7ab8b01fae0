import * as z from 'zod';
import { type AssumptionId, assumptions } from '../../src/deployment/assumptions.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/internal/json.ts';
import type { InterfaceDoc, MemberDoc } from './doc-comments.ts';

/** The unit of each member that counts something. */
const units: Readonly<Record<string, string>> = {
  amount_refunded: 'fiat_currency',
  crypto_amount_to_receive: 'crypto currency of pair',
  exchange_rate: 'fiat_currency for one unit of crypto',
  fee: 'fiat_currency',
  fiat_amount: 'fiat_currency',
  fiat_amount_to_pay: 'fiat_currency',
  markup_fee: 'percent',
};

/** The format of each text that has one. */
const formats: Readonly<Record<string, string>> = {
  created_at: 'date-time',
  default_kyc_url: 'uri',
  partner_callback_url: 'uri',
};

export interface SchemaDescription {
  /** Of the document, and at the head of every error: `event.buy.init`. */
  readonly name: string;
  readonly title: string;
  readonly schema: z.ZodType;
  readonly doc: InterfaceDoc;
  /** A valid value: its members become examples. */
  readonly sample: JsonValue;
}

/**
 * The JSON Schema (2020-12) of a zod schema: self-contained, each member with description, source, unit, format and
 * example.
 *
 * @throws {Error} naming the member that JSON Schema cannot express, or that has no doc comment or unit
 */
export function describeSchema({ name, title, schema, doc, sample }: SchemaDescription): JsonObject {
  const refuse = (path: readonly PropertyKey[], problem: string): never => {
    throw new Error(`${[name, ...path].join('.')} ${problem}`);
  };
  const written = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    unrepresentable: ({ path, zodSchema }) =>
      refuse(membersOf(path), `cannot be expressed in JSON Schema: ${zodSchema._zod.def.type}`),
    override: ({ zodSchema, jsonSchema, path }) => {
      const { protocol } = zodSchema._zod.def as { protocol?: RegExp };
      // zod leaves the protocols of a URL out.
      if (protocol !== undefined) jsonSchema.pattern = `${protocol.source.replace('$', '')}:`;
      for (const check of zodSchema._zod.def.checks ?? []) {
        const { check: kind, pattern } = check._zod.def as { check: string; pattern?: RegExp };
        if (kind === 'custom') refuse(membersOf(path), 'cannot be expressed in JSON Schema: refine');
        if (pattern?.flags)
          refuse(membersOf(path), `cannot be expressed in JSON Schema: flags of ${pattern}`);
      }
    },
  });
  // Sound: JSON Schema is JSON.
  const { $schema, ...described } = JSON.parse(JSON.stringify(written)) as JsonObject;
  const members = annotate(described, doc.members, sample, []);
  return { $schema, title, description: doc.text, ...sourceOf(doc.ledger), ...members } as JsonObject;

  function annotate(
    described: JsonObject,
    docs: ReadonlyMap<string, MemberDoc>,
    sample: JsonValue | undefined,
    path: readonly string[],
  ): JsonObject {
    const { properties } = described;
    if (!isJsonObject(properties)) return described;
    const annotated = Object.entries(properties).map(([member, property]) => {
      const own = [...path, member];
      const memberDoc = docs.get(member);
      if (memberDoc === undefined || memberDoc.text === '') return refuse(own, 'has no doc comment');
      if (!isJsonObject(property)) return refuse(own, 'has no schema');
      const value = isJsonObject(sample) ? sample[member] : undefined;
      return [member, describeMember(property, memberDoc, value, own)] as const;
    });
    return { ...described, properties: Object.fromEntries(annotated) };
  }

  function describeMember(
    property: JsonObject,
    { text, source, ledger, members }: MemberDoc,
    value: JsonValue | undefined,
    path: readonly string[],
  ): JsonObject {
    const member = path.at(-1) ?? '';
    const { [member]: unit } = units;
    const { [member]: format } = formats;
    if (unit === undefined && /"(?:number|integer)"/.test(JSON.stringify(property.type ?? property.anyOf))) {
      refuse(path, 'has no unit');
    }
    const branches = (inner: JsonObject) => annotate(inner, members ?? new Map(), value, path);
    const nested = Array.isArray(property.anyOf)
      ? { ...property, anyOf: property.anyOf.map((each) => (isJsonObject(each) ? branches(each) : each)) }
      : branches(property);
    const isPlain = value !== undefined && (typeof value !== 'object' || value === null);
    return {
      description: text,
      'x-source': source,
      ...assumptionOf(ledger),
      ...(unit !== undefined && { 'x-unit': unit }),
      ...nested,
      ...varnamesOf(nested),
      ...(format !== undefined && property.format === undefined && property.type !== 'null' && { format }),
      ...(isPlain && { examples: [value] }),
    };
  }
}

/**
 * `x-enum-varnames` for values that differ in case alone, such as `Completed` and `COMPLETED`: generators make one name
 * of both, and end with an error.
 */
function varnamesOf({ enum: values }: JsonObject): JsonObject {
  if (!Array.isArray(values)) return {};
  const names = values.map((value) => String(value).replaceAll(/\W/g, '_'));
  const upper = names.map((name) => name.toUpperCase());
  if (new Set(upper).size === upper.length) return {};
  const isFirst = (index: number) => upper.indexOf(upper[index] ?? '') === index;
  return {
    'x-enum-varnames': names.map((name, index) => {
      const constant = upper[index] ?? '';
      return isFirst(index) ? constant : `${constant}_${name === constant ? 'UPPER_CASE' : index}`;
    }),
  };
}

/** The source of a fact that this entry of the ledger is about; without an entry it is published. */
export function sourceOf(id: AssumptionId | undefined): JsonObject {
  const basis = assumptions.find((each) => each.id === id)?.basis ?? 'published';
  return { 'x-source': basis, ...assumptionOf(id) };
}

function assumptionOf(id: AssumptionId | undefined): JsonObject {
  const entry = assumptions.find((each) => each.id === id);
  if (entry === undefined) return {};
  const { basis, statement } = entry;
  return { 'x-assumption': entry.id, 'x-assumption-basis': basis, 'x-assumption-statement': statement };
}

/** The names in a path through a JSON Schema. */
function membersOf(path: readonly PropertyKey[]): PropertyKey[] {
  return path.filter((_, index) => path[index - 1] === 'properties');
}
