import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Prepare } from './describe-program.ts';

const patience = { timeout: 240_000, interval: 100 };

/** Replacements of a program whose handler does this first, and notes when it begins and when it has ended. */
function noting(behavior: string): Readonly<Record<string, string>> {
  return {
    'const { deployment, credentials } = readEnvironment();': `
      import { appendFileSync, readFileSync } from 'node:fs';
      import { setTimeout as pause } from 'node:timers/promises';
      const note = (what: string, id: string) => appendFileSync('notes.txt', what + ' ' + process.pid + ' ' + id + '\\n');
      async function behave(id: string) {
        note('begun', id);
        const turns = readFileSync('notes.txt', 'utf8').split('\\n');
        const turn = turns.filter((line) => line.startsWith('begun') && line.endsWith(' ' + id)).length;
        ${behavior}
      }
      const { deployment, credentials } = readEnvironment();`,
    'const effect = effectKey(event);':
      'await behave(event.partner_order_id);\n  const effect = effectKey(event);',
    'await pool.query(insert, [effect, event.partner_order_id]);':
      "await pool.query(insert, [effect, event.partner_order_id]);\n  note('ended', event.partner_order_id);",
  };
}

interface Note {
  readonly what: 'begun' | 'ended';
  readonly pid: number;
  readonly id: string;
}

function notesIn(folder: string): Note[] {
  const file = join(folder, 'notes.txt');
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => {
      const [what, pid, id = ''] = line.split(' ');
      return { what: what === 'begun' ? what : 'ended', pid: Number(pid), id };
    });
}

/** The ids whose handler has begun in this process, and not ended. */
function unfinished(notes: readonly Note[], pid: number): string[] {
  const own = notes.filter((note) => note.pid === pid);
  const isOver = ({ id }: Note) => own.some((note) => note.what === 'ended' && note.id === id);
  return own.filter((note) => note.what === 'begun' && !isOver(note)).map(({ id }) => id);
}

/** A queue that leaves nothing of a handled job, and loses none with a worker. */
export function itLosesNothing(prepareWith: Prepare): void {
  it('has each of 150 effects once though 50 events come twice, handlers fail twice and one of two workers is killed amid 40, and keeps no body', async () => {
    const failing = "if (id.endsWith('7') && turn <= 2) throw new Error('not yet');";
    const slow = 'if (Number(id.slice(2)) > 110) await pause(400);';
    const { start, post, credited, deadLetters, leftovers, folder } = await prepareWith(
      noting(failing + slow),
      true,
    );
    const first = await start();
    await start();
    await Promise.all([post(60), post(50, {}, 2)]);
    await credited(110);
    await post(40);
    // Those whose handler takes its time, and does not fail.
    const running = () =>
      unfinished(notesIn(folder), first.pid).filter((id) => Number(id.slice(2)) > 110 && !id.endsWith('7'));
    await vi.waitFor(() => expect(running()).not.toEqual([]), { ...patience, interval: 5 });
    await first.kill();
    expect(running()).not.toEqual([]);
    await vi.waitFor(() => {
      const ended = notesIn(folder).filter(({ what }) => what === 'ended');
      expect(new Set(ended.map(({ id }) => id)).size).toBe(150);
    }, patience);
    await credited(150);
    expect(await deadLetters()).toBe(0);
    await vi.waitFor(
      async () => expect(await leftovers()).not.toMatch(/partner_order_id|signature|A-\d/),
      patience,
    );
  }, 300_000);
}

/** A queue whose message kills each process that takes it. */
export function itIsolatesAKiller(prepareWith: Prepare): void {
  it('handles nine events whose handlers take four seconds once each beside one that kills its process, which is dead', async () => {
    const killing = "if (id === 'A-10') { await pause(300); process.kill(process.pid, 'SIGKILL'); }";
    const replaced = {
      ...noting(`${killing} await pause(4_000);`),
      // Longer than a handler takes.
      '  timeLimitMs,\n  send:': '  timeLimitMs: 6_000,\n  maxAttempts: 2,\n  send:',
    };
    const { start, post, credited, deadLetters, folder } = await prepareWith(replaced, true);
    let isOver = false;
    onTestFinished(() => {
      isOver = true;
    });
    let deaths = 0;
    const first = await start();
    const keepRunning = (async () => {
      for (let child = first; !isOver; child = await start()) {
        await child.ended();
        deaths++;
      }
    })();
    keepRunning.catch(() => {});
    await post(9);
    await vi.waitFor(() => expect(unfinished(notesIn(folder), first.pid)).toHaveLength(9), {
      ...patience,
      interval: 20,
    });
    await post(1);
    await credited(9);
    await vi.waitFor(async () => expect(await deadLetters()).toBe(1), patience);
    const notes = notesIn(folder);
    // Beside nine others, and twice alone.
    expect(deaths).toBe(3);
    const ended = notes.filter(({ what }) => what === 'ended').map(({ id }) => id);
    expect(ended.toSorted()).toEqual(['A-1', 'A-2', 'A-3', 'A-4', 'A-5', 'A-6', 'A-7', 'A-8', 'A-9']);
    for (const [index, { what, pid, id }] of notes.entries()) {
      if (what !== 'begun' || id !== 'A-10' || pid === first.pid) continue;
      expect(unfinished(notes.slice(0, index), pid)).toEqual([]);
      expect(unfinished(notes, pid)).toEqual(['A-10']);
    }
  }, 300_000);
}
