import { registerHooks } from 'node:module';
import { defects } from './defects.ts';

/** Changes one expression of the product as it is loaded, in this thread alone. */
export function plant(name: string): void {
  const defect = defects.find((one) => one.name === name);
  if (defect === undefined) throw new Error(`No defect is called ${name}.`);
  const { file, find, replace } = defect;
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!url.endsWith(`/src/${file}`)) return loaded;
      const source = String(loaded.source);
      if (source.split(find).length !== 2)
        throw new Error(`${name}: ${file} does not have this text once any more: ${find}`);
      return { ...loaded, source: source.replace(find, () => replace) };
    },
  });
}
