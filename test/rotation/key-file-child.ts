/**
 * A process that changes a key file, for tests that run several or kill one. Arguments: the path, what to do, a number.
 *
 * - `count`: adds one to the number in the file, so many times.
 * - `receive`: receives generation 2, and kills itself before the step with this number.
 */
import fs from 'node:fs';
import { hostname } from 'node:os';
import paths from 'node:path';
import { createKeyRotation } from '../../src/rotation/create-key-rotation.ts';
import type { FileSystem } from '../../src/rotation/file-lock.ts';
import { keyFile, keyFileIn } from '../../src/rotation/key-file.ts';
import { generation } from '../credentials/keys.ts';

const [path = '', what, number] = process.argv.slice(2);

if (what === 'count') {
  const storage = keyFile({ path });
  for (let round = 0; round < Number(number); round++) {
    await storage.update((text) => String(Number(text ?? 0) + 1));
  }
} else {
  const context = { fs: killedBefore(Number(number)), paths, host: hostname(), now: Date.now };
  const storage = keyFileIn({ path }, context);
  await createKeyRotation({ storage }).receive(generation(2));
}

/** The file system, which ends the process before its step number `last`, counted from 0. */
function killedBefore(last: number): FileSystem {
  let steps = 0;
  return new Proxy(fs, {
    get(target, name) {
      // Sound: only functions of node:fs are asked for.
      const step = Reflect.get(target, name) as (...given: unknown[]) => unknown;
      return (...given: unknown[]) => {
        if (steps++ === last) process.kill(process.pid, 'SIGKILL');
        return step(...given);
      };
    },
  });
}
