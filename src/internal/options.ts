import {
  ConfigurationError,
  type ConfigurationErrorCode,
  isConfigurationError,
  partsOf,
} from '../errors/errors.ts';
import { longestTimerMs } from './deadline.ts';
import { nearestName } from './nearest-name.ts';

/** Without this check a misspelt option would be ignored. */
function checkOptionNames(
  owner: string,
  options: unknown,
  known: readonly string[],
): Readonly<Record<string, unknown>> {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw invalidOption(`${owner} needs an options object.`);
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  // Sound: values are read as unknown.
  if (unknown === undefined) return options as Readonly<Record<string, unknown>>;
  const near = nearestName(unknown, known);
  const hint = near === undefined ? `Its options are ${known.join(', ')}.` : `Did you mean "${near}"?`;
  throw invalidOption(`"${unknown.slice(0, 64)}" is not an option of ${owner}.`, hint);
}

/** Its message never shows the value. */
export function invalidOption(what: string, remedy?: string): ConfigurationError {
  return new ConfigurationError('invalid_option', what, { remedy });
}

/** @throws {ConfigurationError} `invalid_option` unless it is a whole number within the bounds */
export function checkInteger(
  name: string,
  value: unknown,
  { least = 1, most = Number.MAX_SAFE_INTEGER }: { least?: number; most?: number } = {},
): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw invalidOption(
    most === Number.MAX_SAFE_INTEGER
      ? `${name} must be a whole number of at least ${least}.`
      : `${name} must be a whole number from ${least} to ${most}.`,
  );
}

/** @throws {ConfigurationError} `invalid_option` unless it is a function */
export function checkFunction<Callable>(name: string, value: Callable): Callable {
  if (typeof value === 'function') return value;
  throw invalidOption(`${name} must be a function.`);
}

/** @throws {ConfigurationError} `invalid_option` unless it is one of these */
export function checkOneOf<const Value extends string>(
  name: string,
  value: unknown,
  allowed: readonly Value[],
): Value {
  const found = allowed.find((one) => one === value);
  if (found !== undefined) return found;
  throw invalidOption(`${name} must be ${allowed.map((one) => `'${one}'`).join(' or ')}.`);
}

/** Checks one option, fills in its default, and names it in the errors that it throws. */
export type OptionRow<Value> = (given: unknown, name: string) => Value;

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
 * @param code the code of its errors, in place of `invalid_option`
 * @returns a function from the options to frozen settings. @throws {ConfigurationError}
 */
export function defineOptions<const Table extends OptionRows>(
  owner: string,
  table: Table,
  code: ConfigurationErrorCode = 'invalid_option',
): (options: unknown) => Settings<Table> {
  return (options) => {
    checkNode();
    try {
      return readRows(table, { owner, options, prefix: '' });
    } catch (error) {
      throw withCode(error, code);
    }
  };
}

/** The rows know their option, and not what it belongs to. */
function withCode(error: unknown, code: ConfigurationErrorCode): unknown {
  if (!isConfigurationError(error) || error.code !== 'invalid_option' || code === error.code) return error;
  const { what, remedy } = partsOf(error);
  return new ConfigurationError(code, what, { remedy });
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

function readRows<Table extends OptionRows>(
  table: Table,
  { owner, options, prefix }: { owner: string; options: unknown; prefix: string },
): Settings<Table> {
  const values = checkOptionNames(owner, options, Object.keys(table));
  const read = Object.entries(table).map(([name, row]) => [name, row(values[name], prefix + name)]);
  // Sound: each row returns the type that the table gives its name.
  return Object.freeze(Object.fromEntries(read)) as Settings<Table>;
}

/** A check with the default that it fills in, if there is one. */
export function value<Value>(
  check: OptionRow<Value>,
  { default: standard }: { default?: Value },
): OptionRow<Value> {
  if (standard === undefined) return check;
  // Every reading without a value gets the same list.
  if (Array.isArray(standard)) Object.freeze(standard);
  return (given, name) => (given === undefined ? standard : check(given, name));
}

export function optional<Value>(row: OptionRow<Value>): OptionRow<Value | undefined> {
  return (given, name) => (given === undefined ? undefined : row(given, name));
}

/** `least` is 1 unless given. */
export function integer(rules: { default?: number; least?: number; most?: number } = {}): OptionRow<number> {
  return value((given, name) => checkInteger(name, given, rules), rules);
}

export function timerMs(rules: { default?: number; least?: number } = {}): OptionRow<number> {
  return integer({ ...rules, most: longestTimerMs });
}

export function flag(rules: { default?: boolean } = {}): OptionRow<boolean> {
  return value((given, name) => {
    if (typeof given === 'boolean') return given;
    throw invalidOption(`${name} must be true or false.`);
  }, rules);
}

export function text(rules: { default?: string } = {}): OptionRow<string> {
  return value((given, name) => {
    if (typeof given === 'string' && given !== '') return given;
    throw invalidOption(`${name} must be a text that is not empty.`);
  }, rules);
}

export function oneOf<const Value extends string>(
  values: readonly Value[],
  rules: { default?: NoInfer<Value> } = {},
): OptionRow<Value> {
  return value((given, name) => checkOneOf(name, given, values), rules);
}

/** A list, each member of which fits the row. The list is a copy. */
export function list<Value>(
  row: OptionRow<Value>,
  rules: { default?: readonly NoInfer<Value>[] } = {},
): OptionRow<readonly Value[]> {
  return value<readonly Value[]>((given, name) => {
    if (!Array.isArray(given)) throw invalidOption(`${name} must be a list.`);
    return Object.freeze(given.map((each, index) => row(each, `${name}[${index}]`)));
  }, rules);
}

export function callback<Callable extends (...given: never[]) => unknown>(
  rules: { default?: Callable } = {},
): OptionRow<Callable> {
  // Sound as far as it can be: of a function only its being one can be checked.
  return value((given, name) => checkFunction(name, given) as Callable, rules);
}

export function abortSignal(): OptionRow<AbortSignal | undefined> {
  return (given, name) => {
    if (given === undefined || given instanceof AbortSignal) return given;
    throw invalidOption(`${name} must be an AbortSignal.`);
  };
}

/** Passes on a value that is checked where it is used. */
export function unchecked<Value>(): OptionRow<Value | undefined> {
  // Sound if the code that uses it checks it.
  return (given) => given as Value | undefined;
}

/** Options within an option: `retry.firstDelayMs`. All of them may be absent. */
export function nested<const Table extends OptionRows>(table: Table): OptionRow<Settings<Table>> {
  return (options = {}, owner) => readRows(table, { owner, options, prefix: `${owner}.` });
}

/** As many random bytes as it is asked for. @inline */
export type RandomBytes = (size: number) => Uint8Array;

export const randomBytes: RandomBytes = (size) => crypto.getRandomValues(new Uint8Array(size));
