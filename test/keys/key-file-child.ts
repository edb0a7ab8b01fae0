/**
 * A process that changes a key file, for tests that run several or kill one. Arguments: the path, what to do, a number.
 *
 * - `count`: adds one to the number in the file, so many times.
 * - `receive`: receives generation 2, and kills itself before the step with this number.
 */
import paths from 'node:path';
import { thisProcess } from '../../src/internal/process-identity.ts';
import { createKeyRotation } from '../../src/keys/create-key-rotation.ts';
import { keyFile, keyFileIn } from '../../src/keys/key-file.ts';
import { generation } from '../credentials/keys.ts';
import { watchedFileSystem } from './watched-file-system.ts';

const [path = '', what, number] = process.argv.slice(2);

if (what === 'count') {
  const storage = keyFile({ path });
  for (let round = 0; round < Number(number); round++) {
    await storage.update((text) => String(Number(text ?? 0) + 1));
  }
} else {
  let steps = 0;
  const killed = watchedFileSystem({
    before() {
      if (steps++ === Number(number)) process.kill(process.pid, 'SIGKILL');
    },
  });
  const context = { fs: killed, paths, self: thisProcess(), now: Date.now };
  const storage = keyFileIn({ path }, context);
  await createKeyRotation({ storage }).receive(generation(2));
}
