import fs from 'node:fs';
import type { FileSystem } from '../../src/keys/file-lock.ts';

type Watch = (name: string, given: readonly unknown[]) => void;

/** The file system, with something that happens before or after each of its steps. */
export function watchedFileSystem({ before, after }: { before?: Watch; after?: Watch }): FileSystem {
  return new Proxy(fs, {
    get(target, name) {
      if (name === 'constants') return target.constants;
      // Sound: all others are functions.
      const step = Reflect.get(target, name) as (...given: unknown[]) => unknown;
      return (...given: unknown[]) => {
        before?.(String(name), given);
        const result = step(...given);
        after?.(String(name), given);
        return result;
      };
    },
  });
}
