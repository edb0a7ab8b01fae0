import { en } from 'zod/locales';
import {
  compile,
  type core,
  discriminatedUnion,
  literal,
  minLength,
  nullable,
  number,
  object,
  optional,
  safeParse,
  string,
  union,
  enum as zodEnum,
  null as zodNull,
} from 'zod/mini';
import { isJsonObject, type JsonObject } from '../internal/json.ts';
import { eventSchemaNames } from './event-names.ts';
import { makeEventSchemas, type SchemaFunctions } from './event-schemas.ts';
import type { OrderEvent } from './order-event.ts';

/** A difference between a body and the published event of its name. Never holds the value found. */
export interface EventIssue {
  /** Where it is, from the outermost member inwards. */
  readonly path: readonly PropertyKey[];
  /** The fault, without the value. */
  readonly message: string;
}

/** The result of parsing a body. All of its members are kept in every case. */
export type ParsedOrderEvent =
  | {
      readonly kind: 'known';
      readonly event: OrderEvent;
      /** The same value, with members that the event's type does not have. */
      readonly body: JsonObject;
    }
  | { readonly kind: 'unknown'; readonly name: string; readonly body: JsonObject }
  | {
      readonly kind: 'nonconforming';
      /** The event name, or an empty string when there is none. */
      readonly name: string;
      /** The value itself, or an empty object when it is not an object. */
      readonly body: JsonObject;
      readonly issues: readonly EventIssue[];
    };

/**
 * Narrows a verified body. Never throws: a body with an unfamiliar name is `unknown`; one without a name, or not in the
 * published shape of its event, is `nonconforming`, with the differences.
 *
 * Returns the value itself, not a copy, so nothing is lost.
 */
export function parseOrderEvent(value: unknown): ParsedOrderEvent {
  if (!isJsonObject(value)) {
    return {
      kind: 'nonconforming',
      name: '',
      body: {},
      issues: [{ path: [], message: 'must be an object' }],
    };
  }
  const name = Object.hasOwn(value, 'event_name') ? value.event_name : undefined;
  if (typeof name !== 'string') {
    const issues = [{ path: ['event_name'], message: 'must be a string' }];
    return { kind: 'nonconforming', name: '', body: value, issues };
  }
  checks ??= buildChecks();
  const check = checks.get(name);
  if (check === undefined) return { kind: 'unknown', name, body: value };
  const result = safeParse(check, value, { error: inEnglish });
  if (result.success) {
    // Sound: no schema of the union transforms, so the value itself has the type of zod's copy.
    return { kind: 'known', event: value as unknown as OrderEvent, body: value };
  }
  const issues = result.error.issues.map(({ path, message }) => ({ path, message }));
  return { kind: 'nonconforming', name, body: value, issues };
}

/** By event name. Made for the first event: making them takes longer than loading this file. */
let checks: ReadonlyMap<string, core.$ZodType> | undefined;

function buildChecks(): ReadonlyMap<string, core.$ZodType> {
  // Sound: zod/mini has these with the same parameters, and only the verdict is used. Schemas that drop unknown
  // members are faster than those that copy them.
  const schemas = makeEventSchemas(miniFunctions as unknown as SchemaFunctions) as unknown as MiniSchemas;
  // Compiled schemas take a tenth of the time. zod does not compile where code cannot be made at run time.
  return new Map(
    Object.entries(eventSchemaNames).map(([name, schemaName]) => [name, compile(schemas[schemaName])]),
  );
}

type MiniSchemas = Record<keyof ReturnType<typeof makeEventSchemas>, core.$ZodType>;

/** A bundler would keep a whole namespace. */
const miniFunctions = {
  string,
  number,
  null: zodNull,
  literal,
  enum: zodEnum,
  union,
  discriminatedUnion,
  nullable,
  optional,
  minLength,
  object,
} satisfies Record<keyof SchemaFunctions, unknown>;

/** zod's own messages, whatever language a program has set for its schemas. */
const inEnglish = en().localeError;
