import { isJsonObject, type JsonObject } from '../internal/json.ts';
import { eventSchemaNames } from './event-names.ts';
import { makeEventSchemas, type SchemaFunctions } from './event-schemas.ts';

/** A difference between a body and the published event of its name. Never holds the value found. */
export interface EventIssue {
  /** Where it is, from the outermost member inwards. */
  readonly path: readonly PropertyKey[];
  /** The fault, without the value. */
  readonly message: string;
}

/** Finds the issues of a value. */
export type Check = (value: unknown) => readonly EventIssue[];

interface ObjectCheck extends Check {
  readonly members: Readonly<Record<string, Check>>;
}

/** Of a value that has none: nothing is allocated for a valid event. */
const noIssues: readonly EventIssue[] = [];

function checkThat(isValid: (value: unknown) => boolean, message: string): Check {
  return (value) => (isValid(value) ? noIssues : issue(value === undefined ? 'is missing' : message));
}

function issue(message: string, path: readonly PropertyKey[] = []): readonly EventIssue[] {
  return [{ path, message }];
}

const isText: Check = checkThat((value) => typeof value === 'string', 'must be text');
const isObject: Check = checkThat(isJsonObject, 'must be an object');

/** The functions for making schemas, for functions that only check: zod would double the size of the webhooks. */
const checkFunctions = {
  string: () => isText,
  filledString: (): Check => (value) => (value === '' ? issue('must not be empty') : isText(value)),
  number: () => checkThat(Number.isFinite, 'must be a number'),
  null: () => checkThat((value) => value === null, 'must be null'),
  literal: (wanted: string) => checkThat((value) => value === wanted, `must be "${wanted}"`),
  enum: (wanted: readonly unknown[]) =>
    checkThat((value) => wanted.includes(value), `must be one of "${wanted.join('", "')}"`),
  nullable:
    (check: Check): Check =>
    (value) =>
      value === null ? noIssues : check(value),
  optional:
    (check: Check): Check =>
    (value) =>
      value === undefined ? noIssues : check(value),
  union: (checks: readonly Check[]) =>
    checkThat((value) => checks.some((check) => check(value) === noIssues), noneOfForms),
  /** By the member whose value tells the variants apart. */
  discriminatedUnion:
    (name: string, variants: readonly ObjectCheck[]): Check =>
    (value) => {
      if (!isJsonObject(value)) return isObject(value);
      const given = value[name];
      const variant = variants.find(({ members }) => members[name]?.(given) === noIssues);
      return variant?.(value) ?? issue(given === undefined ? 'is missing' : noneOfForms, [name]);
    },
  /** Further members are ignored. */
  object: (members: Readonly<Record<string, Check>>): ObjectCheck => {
    const list = Object.entries(members).map(([name, check]) => ({ name, check }));
    const check: Check = (value) => (isJsonObject(value) ? issuesOf(value, list) : isObject(value));
    return Object.assign(check, { members });
  },
} satisfies Record<keyof SchemaFunctions, unknown>;

const noneOfForms = 'has none of the forms that are allowed';

interface Member {
  readonly name: string;
  readonly check: Check;
}

function issuesOf(value: JsonObject, members: readonly Member[]): readonly EventIssue[] {
  let all = noIssues;
  for (const { name, check } of members) {
    const found = check(value[name]);
    if (found === noIssues) continue;
    all = [...all, ...found.map(({ path, message }) => ({ path: [name, ...path], message }))];
  }
  return all;
}

// Sound: the schemas are made of nothing but these functions, which take the same arguments as those of zod.
const checks = makeEventSchemas(checkFunctions as unknown as SchemaFunctions) as unknown as Record<
  keyof ReturnType<typeof makeEventSchemas>,
  Check
>;

/** By event name. A test compares each with its schema. */
export const eventChecks: ReadonlyMap<string, Check> = new Map(
  Object.entries(eventSchemaNames).map(([name, schemaName]) => [name, checks[schemaName]]),
);
