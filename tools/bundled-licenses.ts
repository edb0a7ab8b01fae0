import { execSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile, Plugin } from 'esbuild';
import { buildPage } from './build-page.ts';

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const manifest = readJson('package.json');

/** The folders of the packages that become part of this one. Each build adds its own, and the last one has them all. */
const bundled = new Set<string>();

/** Writes the licences of the bundled packages, and a list of all parts (CycloneDX). */
export const thirdParty: Plugin = {
  name: 'third-party',
  setup: ({ onEnd }) =>
    onEnd(async ({ metafile }) => {
      for (const each of [metafile, (await buildPage()).metafile]) addPackages(each);
      mkdirSync('dist', { recursive: true });
      writeFileSync('dist/THIRD-PARTY-LICENSES.txt', [...bundled].sort().map(licenseText).join('\n\n'));
      writeFileSync('dist/sbom.cdx.json', JSON.stringify(makeSbom(), null, 1));
    }),
};

function addPackages(metafile: Metafile | undefined) {
  const inputs = Object.values(metafile?.outputs ?? {}).flatMap((output) => Object.entries(output.inputs));
  for (const [path, { bytesInOutput }] of inputs) {
    const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [];
    if (folder && bytesInOutput > 0) bundled.add(folder);
  }
}

function licenseText(folder: string) {
  const { name, version, license, repository } = readJson(join(folder, 'package.json'));
  const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|notice)/i.test(file));
  const texts = files.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim());
  if (texts.length === 0 && license === 'Apache-2.0') {
    // @stricli/core leaves the file out; the text is the same for all.
    const text = readFileSync('node_modules/libphonenumber-js/LICENSE.Apache', 'utf8').trimEnd();
    texts.push(`From ${repository.url}`, text);
  }
  if (texts.length === 0) throw new Error(`${name} has no licence file: say here where its text is.`);
  return `${[`${name} ${version} (${license})`, ...texts].join('\n\n')}\n`;
}

/** What npm knows of all packages here. */
let npmSbom: string | undefined;

/** Of these, the bundled ones and the dependencies, without date and number: one commit gives one file. */
function makeSbom() {
  const command = 'npm sbom --sbom-format=cyclonedx --package-lock-only --include=dev --no-global';
  npmSbom ??= execSync(command, { encoding: 'utf8', stdio: 'pipe', maxBuffer: 2 ** 26 });
  const { serialNumber: _, metadata, components, dependencies, ...sbom } = JSON.parse(npmSbom);
  const inside = [...bundled].map(refOf);
  const installed = Object.keys(manifest.dependencies).map((name) => refOf(`node_modules/${name}`));
  const isPart = (ref: string) => [...inside, ...installed].includes(ref);
  const { tools, component } = metadata;
  return {
    ...sbom,
    // npm names it after the folder.
    metadata: { lifecycles: [{ phase: 'build' }], tools, component: { ...component, name: manifest.name } },
    components: components
      .filter((part: Part) => isPart(part['bom-ref']))
      .map((part: Part) => ({
        ...part,
        properties: inside.includes(part['bom-ref'])
          ? [{ name: 'cdx:npm:package:bundled', value: 'true' }]
          : [],
      })),
    dependencies: dependencies
      .filter(({ ref }: Dependency) => ref === component['bom-ref'] || isPart(ref))
      .map(({ ref, dependsOn }: Dependency) => ({ ref, dependsOn: dependsOn.filter(isPart) })),
  };
}

type Part = { 'bom-ref': string };
type Dependency = { ref: string; dependsOn: string[] };

function refOf(folder: string) {
  const { name, version } = readJson(join(folder, 'package.json'));
  return `${name}@${version}`;
}
