import { ConfigurationError, type ConfigurationErrorCode } from '../errors/errors.ts';
import type { Text } from '../errors/remedies.ts';
import { longestTimerMs } from './deadline.ts';
import { nearestName } from './nearest-name.ts';

/** Without this check a misspelt option would be ignored. */
function checkOptionNames(
  owner: string,
  options: unknown,
  known: readonly string[],
  code: ConfigurationErrorCode = 'invalid_option',
): Readonly<Record<string, unknown>> {
  if (typeof options !== 'object' || options === null) {
    throw new ConfigurationError(code, `${owner} needs an options object.`);
  }
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  // Sound: values are read as unknown.
  if (unknown === undefined) return options as Readonly<Record<string, unknown>>;
  const near = nearestName(unknown, known);
  const hint = near === undefined ? `Its options are ${known.join(', ')}.` : `Did you mean "${near}"?`;
  throw new ConfigurationError(code, `"${unknown.slice(0, 64)}" is not an option of ${owner}.`, {
    remedy: hint,
  });
}

/** Its message never shows the value. */
export function invalidOption(
  what: Text,
  code: ConfigurationErrorCode = 'invalid_option',
  remedy?: Text,
): ConfigurationError {
  return new ConfigurationError(code, what, { remedy });
}

/** @throws {ConfigurationError} `invalid_option` unless it is a whole number within the bounds */
export function checkInteger(
  name: string,
  value: unknown,
  { least = 1, most = Number.MAX_SAFE_INTEGER }: { least?: number; most?: number } = {},
  code?: ConfigurationErrorCode,
): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw invalidOption(
    most === Number.MAX_SAFE_INTEGER
      ? `${name} must be a whole number of at least ${least}.`
      : `${name} must be a whole number from ${least} to ${most}.`,
    code,
  );
}

/** @throws {ConfigurationError} `invalid_option` unless a timer can hold it */
export function checkTimerMs(name: string, value: unknown, least = 1): number {
  return checkInteger(name, value, { least, most: longestTimerMs });
}

/** @throws {ConfigurationError} `invalid_option` unless it is a function */
export function checkFunction<Callable>(
  name: string,
  value: Callable,
  code?: ConfigurationErrorCode,
): Callable {
  if (typeof value === 'function') return value;
  throw invalidOption(`${name} must be a function.`, code);
}

/** @throws {ConfigurationError} `invalid_option` unless it is one of these */
export function checkOneOf<const Value extends string>(
  name: string,
  value: unknown,
  allowed: readonly Value[],
  code?: ConfigurationErrorCode,
): Value {
  const found = allowed.find((one) => one === value);
  if (found !== undefined) return found;
  throw invalidOption(`${name} must be ${allowed.map((one) => `'${one}'`).join(' or ')}.`, code);
}

/** Checks one option, fills in its default, and names it in errors. */
export interface OptionRow<out Value> {
  /** @param code of the error for a value that does not fit */
  read(name: string, given: unknown, code?: ConfigurationErrorCode): Value;
}

/** A row for each option of a documented interface; it does not compile when one is missing, unknown or of a wrong type. */
export type OptionTable<Options> = { readonly [Name in keyof Options]-?: OptionRow<Options[Name]> };

export type Settings<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends OptionRow<infer Value> ? Value : never;
};

type OptionRows = { readonly [name: string]: OptionRow<unknown> };

/**
 * Reads options by a table: refuses unknown names, checks values, fills in defaults. Write the table as `satisfies
 * OptionTable<…>`, which keeps its own types.
 *
 * @param owner what the options belong to, as the user calls it: `createWebhooks`
 * @returns a function from the options to frozen settings. @throws {ConfigurationError}
 */
export function defineOptions<const Table extends OptionRows>(
  owner: string,
  table: Table,
  code: ConfigurationErrorCode = 'invalid_option',
): (options: unknown) => Settings<Table> {
  const rows = Object.entries(table);
  // Sound: each row returns the type that the table gives its name.
  return (options) => {
    checkNode();
    return readRows(rows, { owner, options, code, prefix: '' }) as Settings<Table>;
  };
}

/**
 * Otherwise a missing function would fail with its own name (`Map.groupBy is not a function`).
 *
 * @throws {ConfigurationError} `runtime_too_old`
 */
export function checkNode(
  versions: Readonly<Record<string, string | undefined>> = globalThis.process?.versions ?? {},
): void {
  // Bun and Deno name a Node whose functions they have.
  if (versions.node === undefined || versions.bun !== undefined || versions.deno !== undefined) return;
  const [major = 0, minor = 0] = versions.node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 12)) return;
  throw new ConfigurationError('runtime_too_old', `Node ${versions.node} is too old for this package.`);
}

function readRows(
  rows: readonly (readonly [name: string, row: OptionRow<unknown>])[],
  given: { owner: string; options: unknown; code?: ConfigurationErrorCode | undefined; prefix: string },
): Readonly<Record<string, unknown>> {
  const { owner, options, code, prefix } = given;
  const names = rows.map(([name]) => name);
  const values = checkOptionNames(owner, options, names, code);
  return Object.freeze(
    Object.fromEntries(rows.map(([name, row]) => [name, row.read(prefix + name, values[name], code)])),
  );
}

/** A row with a check of its own. */
export function value<Value>(
  check: (given: unknown, name: string, code?: ConfigurationErrorCode) => Value,
  rules?: { default: Value },
): OptionRow<Value> {
  // Every reading without a value gets the same list.
  if (Array.isArray(rules?.default)) Object.freeze(rules.default);
  return {
    read: (name, given, code) => (given === undefined && rules ? rules.default : check(given, name, code)),
  };
}

export function optional<Value>(row: OptionRow<Value>): OptionRow<Value | undefined> {
  return { read: (name, given, code) => (given === undefined ? undefined : row.read(name, given, code)) };
}

/** `least` is 1 unless given. */
export function integer(rules: { default?: number; least?: number; most?: number } = {}): OptionRow<number> {
  return value((given, name, code) => checkInteger(name, given, rules, code), withDefault(rules));
}

export function timerMs(rules: { default?: number; least?: number } = {}): OptionRow<number> {
  return integer({ ...rules, most: longestTimerMs });
}

export function flag(rules: { default?: boolean } = {}): OptionRow<boolean> {
  return value((given, name, code) => {
    if (typeof given === 'boolean') return given;
    throw invalidOption(`${name} must be true or false.`, code);
  }, withDefault(rules));
}

export function text(rules: { default?: string } = {}): OptionRow<string> {
  return value((given, name, code) => {
    if (typeof given === 'string' && given !== '') return given;
    throw invalidOption(`${name} must be a text that is not empty.`, code);
  }, withDefault(rules));
}

export function oneOf<const Value extends string>(
  values: readonly Value[],
  rules: { default?: NoInfer<Value> } = {},
): OptionRow<Value> {
  return value((given, name, code) => checkOneOf(name, given, values, code), withDefault(rules));
}

export function callback<Callable extends (...given: never[]) => unknown>(
  rules: { default?: Callable } = {},
): OptionRow<Callable> {
  // Sound as far as it can be: of a function only its being one can be checked.
  return value((given, name, code) => checkFunction(name, given, code) as Callable, withDefault(rules));
}

export function abortSignal(): OptionRow<AbortSignal | undefined> {
  return value((given, name) => {
    if (given === undefined || given instanceof AbortSignal) return given;
    throw invalidOption(`${name} must be an AbortSignal.`);
  });
}

/** For what is checked where it is used. */
export function unchecked<Value>(): OptionRow<Value | undefined> {
  // Sound if the code that uses it checks it.
  return { read: (_, given) => given as Value | undefined };
}

/** Options within an option: `retry.firstDelayMs`. All of them may be absent. */
export function nested<const Table extends OptionRows>(table: Table): OptionRow<Settings<Table>> {
  const rows = Object.entries(table);
  return {
    read: (owner, options = {}, code) =>
      // Sound: as in defineOptions.
      readRows(rows, { owner, options, code, prefix: `${owner}.` }) as Settings<Table>,
  };
}

function withDefault<Value>(rules: { default?: Value }): { default: Value } | undefined {
  return rules.default === undefined ? undefined : { default: rules.default };
}
