import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../tools/checks/entries.ts';
import {
  findBundled,
  findLicenseProblems,
  findSbomProblems,
  readDependencies,
} from '../../tools/checks/third-party.ts';

const bundled = await findBundled();

it('SECURITY.md names every package that the build bundles, and no other', () => {
  const text = readFileSync(join(root, 'SECURITY.md'), 'utf8');
  const rows = [...text.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);
  expect(rows.sort()).toEqual(bundled.map(({ name }) => name).sort());
});

describe('an installation', () => {
  const read = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8'));

  it('runs no script, for this package and for what comes with it', () => {
    const names = ['.', ...readDependencies().map(({ name }) => `node_modules/${name}`)];
    const scripts = names.flatMap((name) => Object.keys(read(`${name}/package.json`).scripts ?? {}));
    expect(scripts).toContain('prepack');
    expect(scripts.filter((script) => /^(?:pre|post)?install$/.test(script))).toEqual([]);
  });

  it('in a clone takes what the lock files name, by its hash', () => {
    const locks = ['', 'tools/binary/', 'tools/mutants/', 'tools/site/'].map(
      (of) => `${of}package-lock.json`,
    );
    const packages = locks.flatMap((file) => Object.entries<LockedPackage>(read(file).packages));
    expect(packages.length).toBeGreaterThan(400);
    const isHashed = ([path, { integrity, inBundle, link }]: [string, LockedPackage]) =>
      path === '' || inBundle || link || integrity?.startsWith('sha512-');
    expect(packages.filter((each) => !isHashed(each)).map(([path]) => path)).toEqual([]);
  });
});

interface LockedPackage {
  readonly integrity?: string;
  readonly inBundle?: boolean;
  readonly link?: boolean;
}

describe('the check of the licences', () => {
  const [first] = bundled;
  const head = `${first?.name} ${first?.version} (MIT)`;

  it('refuses an address in place of the text, and a package that is missing', () => {
    const text = `${head}\n\nhttps://spdx.org/licenses/MIT.html\n`;
    expect(findLicenseProblems(text, bundled.slice(0, 2))).toEqual([
      `licences: ${bundled[1]?.name}@${bundled[1]?.version} is missing`,
      `licences: the text of that of ${first?.name}@${first?.version} is missing`,
    ]);
  });
});

describe('the check of the SBOM', () => {
  const refs = readDependencies().map(({ name, version }) => `${name}@${version}`);
  const components = refs.map((ref) => ({
    'bom-ref': ref,
    name: ref.slice(0, ref.lastIndexOf('@')),
    version: ref.slice(ref.lastIndexOf('@') + 1),
    licenses: [{ license: { id: 'MIT' } }],
    properties: [],
  }));
  const metadata = { component: { 'bom-ref': 'ours', name: 'partner-exchange-sdk', version: '1.0.0' } };
  const problemsOf = (changed: object) =>
    findSbomProblems(
      JSON.stringify({ bomFormat: 'CycloneDX', metadata, components, dependencies: [], ...changed }),
      [],
    );

  it('refuses one too few, one too many, and what is listed nowhere', () => {
    expect(problemsOf({})).toEqual([]);
    expect(problemsOf({ components: components.slice(1) })).toEqual([`SBOM: ${refs[0]} is missing`]);
    const other = { ...components[0], 'bom-ref': 'esbuild@0.28.2', name: 'esbuild', version: '0.28.2' };
    expect(problemsOf({ components: [...components, other] })).toEqual(['SBOM: esbuild@0.28.2 is too much']);
    expect(problemsOf({ dependencies: [{ ref: 'ours', dependsOn: ['gone@1.0.0'] }] })).toEqual([
      'SBOM: it depends on gone@1.0.0, which it does not list',
    ]);
  });
});
