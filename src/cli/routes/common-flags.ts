import type { Format } from '../output/output.ts';

/** Flags of every command. */
export interface CommonFlags {
  readonly debug: boolean;
}

export interface FormatFlags {
  readonly format: Format;
}

export interface KeysFlags {
  readonly keys?: string | undefined;
}

/** Flags of what signs or verifies. */
export interface SigningFlags extends KeysFlags {
  readonly scheme?: string | undefined;
}

export const commonFlags = {
  debug: {
    kind: 'boolean',
    brief: 'Say more when something fails',
    default: false,
    withNegated: false,
  },
} as const;

export const formatFlags = {
  format: {
    kind: 'enum',
    values: ['text', 'json'],
    brief: 'How results are printed; docs/cli.md has the shapes',
    default: 'text',
  },
} as const;

/** Flags of what listens. */
export const hostFlags = {
  host: {
    kind: 'parsed',
    parse: String,
    placeholder: 'address',
    brief: 'Anything but loopback lets others on the network in',
    default: '127.0.0.1',
  },
  allowHost: {
    kind: 'parsed',
    parse: String,
    placeholder: 'name',
    brief: 'A further name that requests may address, such as that of a tunnel',
    variadic: true,
    optional: true,
  },
} as const;

export const keysFlags = {
  keys: {
    kind: 'parsed',
    parse: String,
    placeholder: 'file',
    brief:
      'JSON file of credentials or key file of a rotation, readable by you alone (default: the environment)',
    optional: true,
  },
} as const;

export const confirmFlags = {
  yes: { kind: 'boolean', brief: 'Go on without a question', default: false, withNegated: false },
} as const;

export const signingFlags = {
  ...keysFlags,
  scheme: {
    kind: 'parsed',
    parse: String,
    placeholder: 'file',
    brief: 'JSON file of a signature scheme or pin (default: the environment)',
    optional: true,
  },
} as const;
