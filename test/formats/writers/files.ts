import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDeliveryFolder } from '../../../src/devtools/cli/commands/listen/delivery-folder.ts';
import { learn } from '../../../src/devtools/diagnostics/learn/learn-from-samples.ts';
import { credentials, eventOf, writtenAt } from '../subjects.ts';

/** What `listen --save` keeps: a file in each state. The body of the unsigned one is no text. */
export async function writeSavedDeliveries(folder: string): Promise<void> {
  const path = join(folder, 'saved');
  const random = (bytes: number) => new Uint8Array(bytes).fill(7);
  const saved = openDeliveryFolder(path, { now: () => writtenAt, random });
  const save = (state: 'unsigned' | 'done', body: string | Uint8Array) =>
    saved.save(
      {
        receivedAt: new Date(writtenAt).toISOString(),
        target: '/events?shop=7',
        headers: [
          ['Content-Type', 'application/json'],
          ['X-Twice', 'one'],
          ['X-Twice', 'two'],
        ],
        body: Buffer.from(body),
      },
      state,
    );
  await save('unsigned', new Uint8Array([0xff, 0x00, 0x7b]));
  await save('done', eventOf('saved-done'));
}

/** What `learn --write` writes. */
export async function writeDeployment(folder: string): Promise<void> {
  const { file } = await learn({ deliveries: [{ body: eventOf('learnt') }], credentials });
  writeFileSync(join(folder, 'deployment.json'), `${JSON.stringify(file, null, 2)}\n`);
}

export function makeFolder(path: string): string {
  mkdirSync(path, { recursive: true });
  return path;
}
