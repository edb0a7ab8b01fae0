import { isJsonObject } from '../../../json/json-value.ts';
import { type Examination, fail, ok, skip } from '../examination.ts';
import { isInRange } from '../version-range.ts';

/** The optional peers, and the range of each as package.json has it; a test compares them. */
export const peers = {
  bullmq: { range: '^5.81.5 || ^6.0.0', entry: './inbox/bullmq' },
  'pg-boss': { range: '^12.26.0', entry: './inbox/pg-boss' },
  ioredis: { range: undefined, entry: './store/redis' },
  pg: { range: undefined, entry: './store/postgres' },
} as const satisfies Record<string, { range: string | undefined; entry: string }>;

/** Whether the installed version of each peer is one that we support. */
export const peerExaminations: readonly Examination[] = Object.entries(peers).map(
  ([name, { range, entry }]) => ({
    id: `peer-${name}`,
    run({ projectFolder }) {
      const installed = installedVersion(name, projectFolder);
      if (installed === undefined) return skip(`${name} is not installed; only ${entry} needs it.`);
      if (range === undefined || isInRange(installed, range)) return ok(`${name} ${installed}`);
      return fail(
        `${name} ${installed} is not in the supported range ${range}.`,
        `Install ${name}@${range}.`,
      );
    },
  }),
);

/** The version in the nearest `node_modules`, as Node looks it up. Nothing of the package is loaded. */
function installedVersion(name: string, folder: string | undefined): string | undefined {
  const fs = process.getBuiltinModule?.('node:fs');
  const path = process.getBuiltinModule?.('node:path');
  if (fs === undefined || path === undefined) return undefined;
  for (let at = path.resolve(folder ?? process.cwd()); ; at = path.dirname(at)) {
    try {
      const text = fs.readFileSync(path.join(at, 'node_modules', name, 'package.json'), 'utf8');
      const manifest: unknown = JSON.parse(text);
      if (isJsonObject(manifest) && typeof manifest.version === 'string') return manifest.version;
    } catch {
      // Not here.
    }
    if (at === path.dirname(at)) return undefined;
  }
}
