/** What loading an entry may load besides the package's own files (design: Shape). */
export interface Reach {
  readonly packages: readonly string[];
  /** Packages that the build makes part of the entry: its source imports them, the built entry does not. */
  readonly bundled?: readonly string[];
  /** `any`: every `node:` module. */
  readonly builtins: readonly string[] | 'any';
}

const allowedReach: Readonly<Record<string, Reach>> = {
  // Where undici tells which connections it could not make.
  '.': {
    packages: ['ky', 'zod'],
    bundled: ['@noble/hashes'],
    builtins: ['node:crypto', 'node:diagnostics_channel', 'node:zlib'],
  },
  './signature': { packages: [], builtins: ['node:crypto'] },
  // Learn reads events, and checks their addresses; a deployment has the schema of orders.
  './diagnostics': {
    packages: ['zod'],
    bundled: ['@noble/hashes', 'zod/locales', 'zod/mini'],
    builtins: ['node:crypto', 'node:zlib'],
  },
  './events': { packages: ['zod'], bundled: ['zod/locales', 'zod/mini'], builtins: [] },
  './webhooks': {
    packages: [],
    bundled: ['zod/locales', 'zod/mini'],
    builtins: ['node:crypto', 'node:diagnostics_channel'],
  },
  './inbox': { packages: [], builtins: ['node:diagnostics_channel', 'node:path', 'node:timers'] },
  './store': { packages: [], builtins: ['node:crypto', 'node:path', 'node:timers'] },
  './keys': { packages: [], builtins: ['node:crypto'] },
  './orders': {
    packages: [],
    bundled: ['zod/locales', 'zod/mini'],
    builtins: ['node:crypto'],
  },
  './otp': {
    packages: [],
    bundled: ['libphonenumber-js'],
    builtins: ['node:crypto', 'node:net', 'node:util'],
  },
  './sandbox': { packages: ['zod'], bundled: ['@noble/hashes'], builtins: 'any' },
  './testing': { packages: ['zod'], builtins: ['node:assert/strict', 'node:crypto'] },
};

/** Folders of `src` that every entry may hold a part of. */
const foundations = ['errors', 'internal'];

/**
 * The other folders of `src` that an entry may hold a part of; the rest is forbidden (design: Budgets). Sizes only
 * inform: what makes an entry large is that it holds what belongs to another one.
 */
const ownFolders: Readonly<Record<string, readonly string[]>> = {
  '.': ['client', 'credentials', 'deployment', 'signature'],
  './signature': ['credentials', 'signature'],
  './events': ['credentials', 'deployment/event-statuses.ts', 'events'],
  // Whether a store is in a transaction of the user's.
  './webhooks': ['credentials', 'deployment', 'events', 'inbox', 'signature', 'store', 'webhooks'],
  // The rotation of the key that verified a delivery.
  './inbox': ['credentials', 'inbox', 'store'],
  './store': ['store'],
  // The error of an event that cannot be read; the options of a call.
  './orders': [
    'credentials',
    'deployment',
    'events',
    'client/call-options.ts',
    'orders',
    'signature',
    'store',
  ],
  './keys': ['credentials', 'keys', 'store'],
  './otp': ['otp', 'store'],
  './diagnostics': ['credentials', 'deployment', 'devtools/diagnostics', 'events', 'signature'],
  './sandbox': [
    'credentials',
    'deployment',
    'devtools/diagnostics',
    'devtools/sandbox',
    'events',
    'signature',
  ],
  './testing': ['credentials', 'deployment', 'devtools/sandbox', 'devtools/testing', 'events', 'signature'],
};

const sqliteEntries = ['./inbox', './store'];

/** Files that only these entries may hold. */
const reserved: Readonly<Record<string, readonly string[]>> = {
  'otp/phone.ts': ['./otp'],
  'store/sqlite/private-file.ts': sqliteEntries,
  'store/sqlite/sqlite-database.ts': sqliteEntries,
};

/**
 * The files that an entry holds and must not.
 *
 * @param files below `src`, e.g. `events/status.ts`; those of bundled packages are `../node_modules/…`
 */
export function leakedFiles(subpath: string, files: readonly string[]): string[] {
  const allowed = [...foundations, ...(ownFolders[subpath] ?? [])];
  const bundled = bundledPackages(subpath);
  return files.filter((file) => {
    const [, packaged] = file.split('../node_modules/');
    if (packaged !== undefined) return !bundled.some((name) => packaged.startsWith(`${name.split('/')[0]}/`));
    if (reserved[file] !== undefined) return !reserved[file].includes(subpath);
    return file.includes('/') && !allowed.some((own) => file === own || file.startsWith(`${own}/`));
  });
}

/** The languages of zod's messages that an entry holds, e.g. `en`: each weighs on every start. */
export function bundledLocales(files: readonly string[]): string[] {
  return files.flatMap((file) => /\/zod\/v4\/locales\/(?!index\.)(.+)\.js$/.exec(file)?.[1] ?? []);
}

/** The packages that the build makes part of an entry. */
export function bundledPackages(subpath: string): readonly string[] {
  return allowedReach[subpath]?.bundled ?? [];
}

/**
 * How many built files an entry may load. Each takes half a millisecond of a start, more than what is in most of them:
 * a module of its own is a file of its own as soon as two entries share it and a third does not.
 */
const mostLoads: Readonly<Record<string, number>> = { './signature': 11, './webhooks': 25 };

/** A sentence for each limit on files that an entry exceeds. */
export function excessLoads(subpath: string, loads: number): string[] {
  const most = mostLoads[subpath];
  return most === undefined || loads <= most ? [] : [`it loads ${loads} files, and may load ${most}`];
}

/** What an entry reaches and may not. An entry that is not in the table may reach nothing. */
export function beyondReach(subpath: string, reached: readonly string[]): string[] {
  const { packages, builtins } = allowedReach[subpath] ?? { packages: [], builtins: [] };
  return reached.filter((name) =>
    name.startsWith('node:') ? builtins !== 'any' && !builtins.includes(name) : !packages.includes(name),
  );
}
