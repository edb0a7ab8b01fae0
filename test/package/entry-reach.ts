/** What loading an entry may load besides the package's own files (design: Shape). */
export interface Reach {
  readonly packages: readonly string[];
  /** Packages that the build makes part of the entry: its source imports them, the built entry does not. */
  readonly bundled?: readonly string[];
  /** `any`: every `node:` module. */
  readonly builtins: readonly string[] | 'any';
}

export const allowedReach: Readonly<Record<string, Reach>> = {
  // Where undici tells which connections it could not make.
  '.': { packages: ['ky', 'zod'], builtins: ['node:crypto', 'node:diagnostics_channel'] },
  './signature': { packages: [], builtins: ['node:crypto'] },
  // The doctor reads the environment, with the schema of orders.
  './diagnostics': { packages: ['zod'], builtins: ['node:crypto'] },
  './events': { packages: ['zod'], bundled: ['zod/mini'], builtins: [] },
  './webhooks': { packages: [], bundled: ['zod/mini'], builtins: ['node:crypto'] },
  // The errors are in one file with what signs.
  './inbox': { packages: [], builtins: ['node:crypto'] },
  './inbox/sqlite': {
    packages: [],
    builtins: ['node:crypto', 'node:fs', 'node:path', 'node:sqlite', 'node:timers'],
  },
  './inbox/bullmq': { packages: [], builtins: ['node:crypto'] },
  './inbox/pg-boss': { packages: [], builtins: ['node:crypto'] },
  './store': { packages: [], builtins: ['node:crypto'] },
  './store/sqlite': {
    packages: [],
    builtins: ['node:crypto', 'node:fs', 'node:path', 'node:sqlite', 'node:timers'],
  },
  './rotation': { packages: [], builtins: ['node:crypto'] },
  './store/redis': { packages: [], builtins: ['node:crypto'] },
  './store/postgres': { packages: [], builtins: ['node:crypto'] },
  './orders': { packages: ['zod'], builtins: ['node:crypto'] },
  './otp': { packages: [], bundled: ['libphonenumber-js'], builtins: ['node:crypto'] },
  './bulk': {
    packages: [],
    bundled: ['csv-parse', 'libphonenumber-js'],
    builtins: ['node:crypto', 'node:stream'],
  },
  './sandbox': { packages: ['zod'], builtins: 'any' },
  './testing': { packages: ['zod'], builtins: ['node:assert/strict', 'node:crypto'] },
};

/**
 * Folders of `src` of which nothing may leak into an entry (design: Budgets). Sizes only inform: what makes an entry
 * large is that it holds what belongs to another one.
 */
const forbiddenFolders: Readonly<Record<string, readonly string[]>> = {
  '.': ['diagnostics', 'events', 'inbox', 'sandbox', 'webhooks'],
  './signature': [
    ...['config', 'deployment', 'diagnostics', 'events', 'exchange', 'http', 'inbox', 'messenger', 'sandbox'],
    ...['store', 'webhooks'],
  ],
  './events': ['diagnostics', 'exchange', 'http', 'inbox', 'messenger', 'sandbox', 'signature', 'webhooks'],
  './webhooks': ['diagnostics', 'exchange', 'http', 'messenger', 'sandbox'],
  './diagnostics': ['exchange', 'inbox', 'messenger', 'sandbox', 'webhooks'],
  './rotation': ['diagnostics', 'events', 'exchange', 'http', 'inbox', 'messenger', 'sandbox', 'webhooks'],
  './bulk': ['diagnostics', 'events', 'exchange', 'http', 'inbox', 'messenger', 'otp', 'sandbox', 'webhooks'],
  './otp': [
    'deployment',
    'diagnostics',
    'events',
    'exchange',
    'http',
    'inbox',
    'messenger',
    'sandbox',
    'webhooks',
  ],
  './store': ['diagnostics', 'events', 'exchange', 'http', 'inbox', 'messenger', 'sandbox', 'webhooks'],
  './orders': ['diagnostics', 'events', 'exchange', 'http', 'inbox', 'messenger', 'sandbox', 'webhooks'],
  './inbox': ['diagnostics', 'events', 'exchange', 'http', 'messenger', 'sandbox', 'signature', 'webhooks'],
  './testing': ['diagnostics', 'exchange', 'http', 'inbox', 'messenger', 'webhooks'],
};

/**
 * The files that an entry holds and must not.
 *
 * @param files below `src`, e.g. `events/status.ts`; those of bundled packages are `../node_modules/…`
 */
export function leakedFiles(subpath: string, files: readonly string[]): string[] {
  const forbidden = forbiddenFolders[subpath] ?? [];
  const bundled = bundledPackages(subpath);
  return files.filter((file) => {
    const [, packaged] = file.split('../node_modules/');
    if (packaged !== undefined) return !bundled.some((name) => packaged.startsWith(`${name.split('/')[0]}/`));
    return forbidden.includes(file.slice(0, file.indexOf('/')));
  });
}

/** The packages that the build makes part of an entry. */
export function bundledPackages(subpath: string): readonly string[] {
  return allowedReach[subpath]?.bundled ?? [];
}

/** What an entry reaches and may not. An entry that is not in the table may reach nothing. */
export function beyondReach(subpath: string, reached: readonly string[]): string[] {
  const { packages, builtins } = allowedReach[subpath] ?? { packages: [], builtins: [] };
  return reached.filter((name) =>
    name.startsWith('node:') ? builtins !== 'any' && !builtins.includes(name) : !packages.includes(name),
  );
}
