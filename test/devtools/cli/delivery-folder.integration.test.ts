import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDeliveryFolder } from '../../../src/devtools/cli/commands/listen/delivery-folder.ts';
import { scratchFolder } from './support.ts';

const full = { message: expect.stringContaining('is full: move events elsewhere') };

/** A folder with room for some files of a block each. */
function folderOf(blocks: number, path = join(scratchFolder(), 'events')) {
  const clock = { at: Date.UTC(2026, 0, 2) };
  const folder = openDeliveryFolder(path, {
    maxBytes: blocks * 4096,
    now: () => clock.at,
    random: (size) => crypto.getRandomValues(new Uint8Array(size)),
  });
  const save = (state: 'done' | 'unsigned', size = 2) =>
    folder.save({ headers: [], body: Buffer.alloc(size, 'x') }, state);
  return { path, clock, save };
}

describe('the folder of listen --save', () => {
  it('is never larger than it may be, however many events come at once', async () => {
    const { path, save } = folderOf(20);
    const saved = await Promise.allSettled(
      Array.from({ length: 50 }, (_, index) => save(index % 2 === 0 ? 'done' : 'unsigned', index * 400)),
    );
    const sizes = readdirSync(path).map((name) => Math.ceil(statSync(join(path, name)).size / 4096));
    expect(sizes.reduce((sum, blocks) => sum + blocks)).toBeLessThanOrEqual(20);
    expect(saved.filter(({ status }) => status === 'fulfilled')).toHaveLength(sizes.length);
    expect(sizes.length).toBeGreaterThan(5);
  });

  it('keeps half of its room for signed events, also of another process', async () => {
    const { path, save } = folderOf(20);
    for (let count = 0; count < 10; count++) await save('unsigned');
    await expect(save('unsigned')).rejects.toMatchObject(full);
    for (let count = 0; count < 10; count++) await save('done');
    await expect(save('done')).rejects.toMatchObject(full);
    await expect(folderOf(20, path).save('done')).rejects.toMatchObject(full);
    expect(readdirSync(path).filter((name) => name.endsWith('.unsigned.json'))).toHaveLength(10);
  });

  it('notices within a second that files were removed', async () => {
    const { path, clock, save } = folderOf(2);
    for (let count = 0; count < 2; count++) await save('done');
    await expect(save('done')).rejects.toMatchObject(full);
    for (const name of readdirSync(path)) rmSync(join(path, name));
    await expect(save('done')).rejects.toMatchObject(full);
    clock.at += 1000;
    await save('done');
    expect(readdirSync(path)).toHaveLength(1);
  });
});
