import { type Examination, fail, ok, skip } from '../examination.ts';
import { compareVersions, parseVersion } from '../version-range.ts';

/** The oldest Node that the package supports; a test compares it with package.json. */
export const oldestNode = '22.12.0';

export const runtime: Examination = {
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
    if (found === undefined || oldest === undefined) return skip('The runtime does not tell its version.');
    if (compareVersions(found, oldest) >= 0) return ok(`Node ${node}`);
    return fail(`Node ${node} is older than ${oldestNode}.`, `Install Node ${oldestNode} or later.`);
  },
};
