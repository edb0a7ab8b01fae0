import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/internal/json.ts';
import { root } from '../../tools/checks/entries.ts';
import type { ContractExample } from '../../tools/contract/examples.ts';

/** The schemas of `contract/`, by event or operation. */
export function readSchemas(): Map<string, JsonObject> {
  const files = globSync('contract/schemas/*.json', { cwd: root });
  return new Map(files.map((file) => [basename(file, '.json'), readJson(file) as JsonObject]));
}

export function readExamples(): ContractExample[] {
  const files = globSync('contract/examples/*.json', { cwd: root });
  // Sound: a test compares the files with what the generator makes.
  return files.map((file) => readJson(file) as unknown as ContractExample);
}

export function readJson(file: string): JsonValue {
  return JSON.parse(readFileSync(join(root, file), 'utf8'));
}

/** The value that an example's schema describes: the body, or the parameters of a query. */
export function exampleValue({ schema, text }: ContractExample, schemas = readSchemas()): JsonValue {
  const name = schemaName(schema);
  const isQuery = name !== undefined && schemas.get(name)?.['x-in'] === 'query';
  return isQuery ? Object.fromEntries(new URLSearchParams(text)) : JSON.parse(text);
}

/** The event or operation of a schema's file. */
export function schemaName(schema: string | null): string | undefined {
  return schema === null ? undefined : basename(schema, '.json');
}

const assumption = ['assumption', 'assumption-basis', 'assumption-statement'];

/** Says with ajv what a value breaks of a schema. */
export class ContractCheck {
  readonly #ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true });
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(schemas: ReadonlyMap<string, JsonObject> = readSchemas(), options: { formats?: boolean } = {}) {
    if (options.formats ?? true) addFormats.default(this.#ajv);
    else this.#ajv.opts.validateFormats = false;
    this.#ajv.addVocabulary(
      ['source', 'unit', 'in', 'enum-varnames', ...assumption].map((name) => `x-${name}`),
    );
    for (const [name, schema] of schemas) {
      this.#validators.set(name, this.#ajv.compile(schema));
    }
  }

  has(name: string): boolean {
    return this.#validators.has(name);
  }

  problems(name: string, value: unknown): string[] {
    const validate = this.#validators.get(name);
    if (validate === undefined) return [`${name} has no schema`];
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${name}${instancePath} ${message}`);
  }
}

/** The path of each described member of a schema, at any depth: `payer_into_account.bank_name`. */
export function describedMembers(schema: JsonValue | undefined): string[] {
  if (!isJsonObject(schema)) return [];
  const { oneOf, anyOf, properties } = schema;
  const branches = [oneOf, anyOf].flatMap((each) => (Array.isArray(each) ? each : []));
  const own = Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([name, member]) => [
    name,
    ...describedMembers(member).map((inner) => `${name}.${inner}`),
  ]);
  return [...new Set([...own, ...branches.flatMap(describedMembers)])];
}

/** The path of each member of a value, at any depth. */
export function membersIn(value: JsonValue | undefined): string[] {
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    name,
    ...membersIn(member).map((inner) => `${name}.${inner}`),
  ]);
}
