/** What loading an entry may load besides the package's own files (design: Shape). */
export interface Reach {
  readonly packages: readonly string[];
  /** `any`: every `node:` module. */
  readonly builtins: readonly string[] | 'any';
}

export const allowedReach: Readonly<Record<string, Reach>> = {
  '.': { packages: ['ky', 'zod'], builtins: ['node:crypto'] },
  './signature': { packages: [], builtins: ['node:crypto'] },
  './diagnostics': { packages: [], builtins: ['node:crypto'] },
  './events': { packages: ['zod'], builtins: [] },
  './webhooks': { packages: ['zod'], builtins: ['node:crypto'] },
  // The errors are in one file with what signs.
  './inbox': { packages: [], builtins: ['node:crypto'] },
  './inbox/sqlite': {
    packages: [],
    builtins: ['node:crypto', 'node:fs', 'node:path', 'node:sqlite', 'node:timers'],
  },
  './inbox/bullmq': { packages: [], builtins: ['node:crypto'] },
  './inbox/pg-boss': { packages: [], builtins: ['node:crypto'] },
  './sandbox': { packages: ['zod'], builtins: 'any' },
};

/** What an entry reaches and may not. An entry that is not in the table may reach nothing. */
export function beyondReach(subpath: string, reached: readonly string[]): string[] {
  const { packages, builtins } = allowedReach[subpath] ?? { packages: [], builtins: [] };
  return reached.filter((name) =>
    name.startsWith('node:') ? builtins !== 'any' && !builtins.includes(name) : !packages.includes(name),
  );
}
