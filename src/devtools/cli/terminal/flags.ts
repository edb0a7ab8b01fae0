import { proposal } from '../../../internal/nearest-name.ts';
import { CliError } from './context.ts';

/** An option that is on when it is named. */
export function toggle(brief: string) {
  return { kind: 'boolean', brief, default: false, withNegated: false } as const;
}

/** An option with a value, in each of its forms. `parse` throws a {@link CliError} that says what it must be. */
export function parsedBy<Value>(parse: (input: string) => Value) {
  return {
    required: (placeholder: string, brief: string) =>
      ({ kind: 'parsed', parse, placeholder, brief }) as const,
    optional: (placeholder: string, brief: string) =>
      ({ kind: 'parsed', parse, placeholder, brief, optional: true }) as const,
    /** Can be given several times. */
    list: (placeholder: string, brief: string) =>
      ({ kind: 'parsed', parse, placeholder, brief, optional: true, variadic: true }) as const,
    /** The default is a text, as the user would type it. */
    withDefault: (placeholder: string, brief: string, value: string) =>
      ({ kind: 'parsed', parse, placeholder, brief, default: value }) as const,
  };
}

export const textFlag = parsedBy(String);

export const webAddress = parsedBy(parseWebAddress);

export const wholeNumber = (least: number, most: number) => parsedBy(parseWholeNumber(least, most));

export const port = wholeNumber(0, 65_535);

export function arg(placeholder: string, brief: string) {
  return { placeholder, brief, parse: String } as const;
}

export function optionalFile(brief: string) {
  return { placeholder: 'file', brief, parse: String, optional: true } as const;
}

/** An argument that is one of some words. */
export function choiceArg<const Word extends string>(
  placeholder: string,
  words: readonly Word[],
  brief: string,
) {
  return { placeholder, brief, parse: oneWordOf(words) } as const;
}

/** Any number of arguments of one kind. */
export function manyArgs(
  parameter: Arg & { parse(input: string): string },
  { minimum }: { minimum?: number } = {},
) {
  return { kind: 'array', parameter, ...(minimum && { minimum }) } as const;
}

export const formatFlags = {
  format: {
    kind: 'enum',
    values: ['text', 'json'],
    brief: 'How results are printed',
    default: 'text',
  },
  debug: toggle('Say more when something fails'),
} as const;

export const keysFlag = textFlag.optional(
  'file',
  'JSON file of credentials, readable by you alone, or the store of a rotation (default: the environment)',
);

/** The kind of a body, and with it the key that signs it. */
export const purposeFlag = {
  kind: 'enum',
  values: ['order', 'general'],
  brief: 'order: orders and their events; general: everything else',
  default: 'order',
} as const;

export const merchantFlag = textFlag.optional('name', 'Which merchant signs, if there are several');

export const confirmFlags = { yes: toggle('Go on without a question') };

/** Where the records are in a PostgreSQL. */
export const tableFlags = {
  schema: textFlag.optional('name', 'PostgreSQL: the schema (default: the one its user finds first)'),
  table: textFlag.optional('name', 'PostgreSQL: the table of records (default: partner_exchange_records)'),
};

/** Where something is stored: what `parseStoreAddress` reads. */
export function storeFlag(what: string) {
  return textFlag.required('store', `${what}: ${storeForms}`);
}

/** Any number of stores. */
export function storesFlag(what: string) {
  return textFlag.list('store', `${what}: ${storeForms}`);
}

const storeForms = 'SQLite file, redis: or postgres: address, or env:NAME of a variable';

export const journalFlags = {
  journal: storeFlag('The order journal'),
  prefix: textFlag.optional('text', 'The prefix of the journal, if it is not its default'),
  ...tableFlags,
};

export const hostFlags = {
  host: textFlag.withDefault(
    'address',
    'Address to listen on; any but loopback admits the network',
    '127.0.0.1',
  ),
  allowHost: textFlag.list('name', 'A further name that requests may address, such as that of a tunnel'),
};

export const postFlags = {
  to: webAddress.required('url', 'Where your receiver listens'),
  timeoutMs: wholeNumber(1, 600_000).withDefault('ms', 'How long to wait for an answer', '10000'),
};

/** Options by their names, as the helpers in flags.ts make them. */
export type FlagTable = Readonly<Record<string, { readonly kind: 'parsed' | 'boolean' | 'enum' }>>;

export type FlagsOf<Flags extends FlagTable> = { readonly [Name in keyof Flags]: FlagValue<Flags[Name]> };

type FlagValue<Flag> = Flag extends {
  readonly variadic: true;
  readonly parse: (input: string) => infer Value;
}
  ? readonly Value[] | undefined
  : GivenFlagValue<Flag> | (Flag extends { readonly optional: true } ? undefined : never);

type GivenFlagValue<Flag> = Flag extends { readonly kind: 'boolean' }
  ? boolean
  : Flag extends { readonly values: readonly (infer Value)[] }
    ? Value
    : Flag extends { readonly parse: (input: string) => infer Value }
      ? Value
      : never;

interface Arg {
  readonly brief: string;
  readonly placeholder: string;
  readonly parse: (input: string) => unknown;
}

/** Arguments, each with a meaning of its own, or any number of one kind. */
export type ArgTable = readonly Arg[] | { readonly kind: 'array'; readonly parameter: Arg };

export type ArgsOf<Args extends ArgTable> = Args extends readonly Arg[]
  ? { [Index in keyof Args]: ArgValue<Args[Index]> }
  : Args extends { readonly parameter: { readonly parse: (input: string) => infer Value } }
    ? Value[]
    : never;

type ArgValue<Each> = Each extends { readonly parse: (input: string) => infer Value }
  ? Value | (Each extends { readonly optional: true } ? undefined : never)
  : never;

function parseWholeNumber(least: number, most: number): (input: string) => number {
  return (input) => {
    const number = /^\d{1,15}$/.test(input) ? Number(input) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new CliError(`must be a whole number from ${least} to ${most}`);
  };
}

export function parseWebAddress(input: string): URL {
  const url = URL.canParse(input) ? new URL(input) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new CliError('must be an address that begins with http:// or https://');
}

export function oneWordOf<const Word extends string>(words: readonly Word[]): (input: string) => Word {
  return (input) => {
    const word = words.find((known) => known === input);
    if (word !== undefined) return word;
    throw new CliError(`must be ${words.join(', ')}${proposal(input, words)}`);
  };
}
