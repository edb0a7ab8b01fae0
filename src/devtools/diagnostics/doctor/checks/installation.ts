import { isJsonObject } from '../../../../internal/json.ts';
import { skipped } from '../../check-result.ts';
import { type Check, fail, ok } from '../check.ts';

/** The oldest supported Node; a test compares it with package.json. */
export const oldestNode = '22.12.0';

export const runtime: Check = {
  id: 'runtime',
  run({ versions }) {
    const { bun, deno, node } = versions;
    if (bun !== undefined) return ok(`Bun ${bun}`);
    if (deno !== undefined) return ok(`Deno ${deno}`);
    // A Worker has no version of Node, or names one that it imitates.
    const isWorker = globalThis.navigator?.userAgent === 'Cloudflare-Workers';
    if (isWorker) return ok('Cloudflare Workers');
    const found = parseVersion((node ?? '').replace(/-.*/, ''));
    const oldest = parseVersion(oldestNode);
    if (found === undefined || oldest === undefined) return skipped('The runtime does not tell its version.');
    if (compareVersions(found, oldest) >= 0) return ok(`Node ${node}`);
    return fail(`Node ${node} is older than ${oldestNode}.`, `Install Node ${oldestNode} or later.`);
  },
};

/** The optional peers with their ranges; a test compares them with package.json. */
export const peers = {
  ioredis: { range: '^5.2.5 || ^6.0.0', entry: './store/redis' },
  redis: { range: '^5.0.0 || ^6.0.0', entry: './store/redis' },
  pg: { range: '^8.0.3', entry: './store/postgres' },
} as const satisfies Record<string, { range: string; entry: string }>;

export const peerChecks: readonly Check[] = Object.entries(peers).map(([name, { range, entry }]) => ({
  id: `peer-${name}`,
  run({ projectFolder }) {
    const installed = installedVersion(name, projectFolder);
    if (installed === undefined) return skipped(`${name} is not installed; only ${entry} needs it.`);
    if (isInRange(installed, range)) return ok(`${name} ${installed}`);
    return fail(`${name} ${installed} is not in the supported range ${range}.`, `Install ${name}@${range}.`);
  },
}));

/** The version in the nearest `node_modules`, as Node finds it, without loading the package. */
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
      // This folder does not have it.
    }
    if (at === path.dirname(at)) return undefined;
  }
}

/**
 * Whether a version is in a range of the form `^5.2.5 || ^6.0.0`, the only one of our peer dependencies. A
 * pre-release is not.
 */
export function isInRange(version: string, range: string): boolean {
  const found = parseVersion(version);
  if (found === undefined) return false;
  return range.split('||').some((part) => {
    const least = parseVersion(part.trim().replace(/^\^/, ''));
    return least !== undefined && found[0] === least[0] && compareVersions(found, least) >= 0;
  });
}

type Version = readonly [major: number, minor: number, patch: number];

/** `undefined` for pre-releases, and for anything but three numbers. */
function parseVersion(text: string): Version | undefined {
  const match = /^v?(\d+)\.(\d+)\.(\d+)(?:\+.*)?$/.exec(text);
  return match === null ? undefined : [Number(match[1]), Number(match[2]), Number(match[3])];
}

/** Negative if the first one is older. */
function compareVersions(first: Version, second: Version): number {
  return first[0] - second[0] || first[1] - second[1] || first[2] - second[2];
}
