import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { readEntries, root } from './entries.ts';

/** A package with its version. */
export interface Package {
  readonly name: string;
  readonly version: string;
}

/**
 * The packages that become part of ours, read off the sources and not off what the build wrote: imports of the
 * entries, the command line and the inspector's page that survive tree shaking.
 */
export async function findBundled(): Promise<Package[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [
      ...readEntries().map(({ source }) => source),
      'src/devtools/cli/main.ts',
      'src/devtools/inspector/main.tsx',
    ],
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    outdir: 'dist',
    write: false,
    metafile: true,
    logLevel: 'silent',
    plugins: [
      {
        name: 'dependencies',
        setup: ({ onResolve }) => onResolve({ filter: /^(?:ky|zod)$/ }, () => ({ external: true })),
      },
    ],
  });
  const files = Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.keys(inputs).filter((file) => (inputs[file]?.bytesInOutput ?? 0) > 0),
  );
  const folders = files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []);
  return [...new Set(folders)].sort().map(readPackage);
}

/** The packages that are installed with ours, in the version that it is tested with. */
export function readDependencies(): Package[] {
  const { dependencies } = readJson(join(root, 'package.json')) as { dependencies: Record<string, string> };
  return Object.keys(dependencies).map((name) => readPackage(`node_modules/${name}`));
}

/** What the build writes about them, below the package. */
export const thirdPartyFiles = { licenses: 'dist/THIRD-PARTY-LICENSES.txt', sbom: 'dist/sbom.cdx.json' };

/** What is wrong with the file of licences: each bundled package has its text in it, and not only an address. */
export function findLicenseProblems(text: string, bundled: readonly Package[]): string[] {
  const heads = [...text.matchAll(/^(\S+) (\d+\.\d+\.\d+\S*) \([\w.\- ]+\)$/gm)];
  const sections = heads.map((head, index) => ({
    title: `${head[1]}@${head[2]}`,
    text: text.slice(head.index + head[0].length, heads[index + 1]?.index),
  }));
  return [
    ...compare(
      sections.map(({ title }) => title),
      bundled,
    ).map((problem) => `licences: ${problem}`),
    ...sections
      .filter((section) => !/Permission is hereby granted|TERMS AND CONDITIONS FOR USE/.test(section.text))
      .map(({ title }) => `licences: the text of that of ${title} is missing`),
  ];
}

/** What is wrong with the list of parts (CycloneDX): it names what is bundled and what is installed, no more. */
export function findSbomProblems(text: string, bundled: readonly Package[]): string[] {
  const sbom = JSON.parse(text) as Sbom;
  const marked = sbom.components.filter(({ properties }) =>
    properties.some(({ name, value }) => name === 'cdx:npm:package:bundled' && value === 'true'),
  );
  const expected = [...bundled, ...readDependencies()];
  const refs = new Set([
    sbom.metadata.component['bom-ref'],
    ...sbom.components.map((each) => each['bom-ref']),
  ]);
  return [
    ...(sbom.bomFormat === 'CycloneDX' ? [] : ['it is no CycloneDX']),
    ...(sbom.metadata.component.name === readPackage('.').name ? [] : ['it is of another package']),
    ...compare(sbom.components.map(titleOf), expected),
    ...compare(marked.map(titleOf), bundled).map((problem) => `marked as bundled: ${problem}`),
    ...sbom.components
      .filter(({ licenses }) => !licenses?.length)
      .map(({ name }) => `${name} has no licence`),
    ...sbom.dependencies
      .flatMap(({ ref, dependsOn }) => [ref, ...dependsOn])
      .filter((ref) => !refs.has(ref))
      .map((ref) => `it depends on ${ref}, which it does not list`),
  ].map((problem) => `SBOM: ${problem}`);
}

interface Sbom {
  readonly bomFormat: string;
  readonly metadata: { readonly component: Package & { readonly 'bom-ref': string } };
  readonly components: readonly (Package & {
    readonly 'bom-ref': string;
    readonly licenses?: readonly unknown[];
    readonly properties: readonly { readonly name: string; readonly value: string }[];
  })[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

function compare(found: readonly string[], expected: readonly Package[]): string[] {
  const titles = [...new Set(expected.map(titleOf))];
  return [
    ...titles.filter((title) => !found.includes(title)).map((title) => `${title} is missing`),
    ...found.filter((title) => !titles.includes(title)).map((title) => `${title} is too much`),
    ...found.filter((title, index) => found.indexOf(title) < index).map((title) => `${title} is there twice`),
  ];
}

const titleOf = ({ name, version }: Package) => `${name}@${version}`;

function readPackage(folder: string): Package {
  const { name, version } = readJson(join(root, folder, 'package.json')) as Package;
  return { name, version };
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'));
}
