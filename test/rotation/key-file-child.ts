/**
 * A process that changes a key file, for tests that run several or kill one. Arguments: the path, what to do, a number.
 *
 * - `count`: adds one to the number in the file, so many times.
 * - `receive`: receives generation 2, and kills itself before the step with this number.
 */
import fs from 'node:fs';
import paths from 'node:path';
import { createKeyRotation } from '../../src/rotation/create-key-rotation.ts';
import type { FileSystem } from '../../src/rotation/file-lock.ts';
import { keyFile, keyFileIn } from '../../src/rotation/key-file.ts';
import { thisProcess } from '../../src/rotation/process-identity.ts';
import { generation } from '../credentials/keys.ts';

const [path = '', what, number] = process.argv.slice(2);

if (what === 'count') {
  const storage = keyFile({ path });
  for (let round = 0; round < Number(number); round++) {
    await storage.update((text) => String(Number(text ?? 0) + 1));
  }
} else {
  const context = { fs: killedBefore(Number(number)), paths, self: thisProcess(), now: Date.now };
  const storage = keyFileIn({ path }, context);
  await createKeyRotation({ storage }).receive(generation(2));
}

/** The file system, which ends the process before its step number `last`, counted from 0. */
function killedBefore(last: number): FileSystem {
  let steps = 0;
  return new Proxy(fs, {
    get(target, name) {
      if (name === 'constants') return target.constants;
      // Sound: all others are functions.
      const step = Reflect.get(target, name) as (...given: unknown[]) => unknown;
      return (...given: unknown[]) => {
        if (steps++ === last) process.kill(process.pid, 'SIGKILL');
        return step(...given);
      };
    },
  });
}
