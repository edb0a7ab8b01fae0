import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { findBrokenReferences } from '../documents/references.ts';
import { findSurfaceProblems } from '../documents/surface.ts';
import { compileCommonJs } from './common-js.ts';
import { root } from './entries.ts';
import { beyondReach, bundledLocales, excessLoads, leakedFiles } from './entry-reach.ts';
import { findSizeProblems } from './package-size.ts';
import { findFileProblems } from './packed-files.ts';
import { findRepeatedNames } from './repeated-names.ts';
import { run } from './run.ts';
import {
  compilerVersions,
  makeScratchProject,
  probeIdentity,
  runCommands,
  writeConsumers,
} from './scratch-project.ts';
import { bundleEntries, printSizes } from './sizes.ts';
import { findTraceProblems } from './stack-trace.ts';
import { startTally } from './tally.ts';
import { findBundled, findLicenseProblems, findSbomProblems, thirdPartyFiles } from './third-party.ts';

/** Checks the package as its users get it: packed, and installed in a project of its own. Needs a build. */

/** What narrows events holds a copy of zod/mini. */
const readsEvents = ['./events', './webhooks'];

const tally = startTally();
await tally.check('each exported name and each file name of the sources is used once', () => {
  refuse(findRepeatedNames());
});
await tally.check('its public surface is that of etc/api', () => {
  refuse(findSurfaceProblems());
});
const project = makeScratchProject();
try {
  await tally.check('publint, strict', async () => {
    const tarball = new Uint8Array(readFileSync(project.tarball)).buffer;
    const { messages, pkg } = await publint({ pack: { tarball }, strict: true });
    refuse(messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code));
  });
  await tally.check('are the types wrong, profile esm-only', () => {
    const attw = join(root, 'node_modules', '.bin', 'attw');
    run(attw, [project.tarball, '--profile', 'esm-only', '--format', 'ascii', '--no-emoji'], { cwd: root });
  });
  await tally.check('the package holds what it should and nothing else', () => {
    refuse(findFileProblems(project.installed));
  });
  await tally.check('it is small: 1.4 MB packed, 5 MB unpacked', () => {
    refuse(findSizeProblems(project));
  });
  await tally.check('a stack trace names files and lines of src', () => {
    refuse(findTraceProblems(project.folder));
  });
  await tally.check('its links and the paths that it mentions exist in it', () => {
    refuse(findBrokenReferences(project.installed));
  });
  await tally.check('it carries the licence of each bundled package', async () => {
    refuse(findLicenseProblems(readInstalled(thirdPartyFiles.licenses), await findBundled()));
  });
  await tally.check('its SBOM lists what is bundled and the two dependencies', async () => {
    refuse(findSbomProblems(readInstalled(thirdPartyFiles.sbom), await findBundled()));
  });
  await tally.check('import and require of every entry give the same things, one identity each', () => {
    probeIdentity(project);
  });
  await tally.check('npx runs the command by its name and by that of the package', () => {
    runCommands(project);
  });
  const compileConsumers = writeConsumers(project);
  // Two at once, for two cores.
  const compiling = compilerVersions.map((version) =>
    tally.check(`strict programs compile with TypeScript ${version}, and can name each type`, () =>
      compileConsumers(version),
    ),
  );
  await Promise.all(compiling);
  for (const version of compilerVersions) {
    await tally.check(`CommonJS as docs/details/runtimes.md says, TypeScript ${version}`, () =>
      compileCommonJs(project, version),
    );
  }
} finally {
  project.remove();
}

const bundles = await bundleEntries();
for (const { subpath, files } of bundles.filter(({ subpath }) => readsEvents.includes(subpath))) {
  await tally.check(`built ${subpath} holds one language of zod's messages`, () => {
    refuse(bundledLocales(files).join() === 'en' ? [] : [`it holds: ${bundledLocales(files).join(', ')}`]);
  });
}
for (const { subpath, reached, files, loads } of bundles) {
  await tally.check(`built ${subpath} loads nothing beyond its reach`, () => {
    refuse([
      ...beyondReach(subpath, reached),
      ...leakedFiles(subpath, files),
      ...excessLoads(subpath, loads),
    ]);
  });
}
printSizes(bundles);
tally.finish();

function readInstalled(file: string): string {
  return readFileSync(join(project.installed, file), 'utf8');
}

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(problems.join('\n'));
}
