import { describe, expect, it } from 'vitest';
import type { CliContext } from '../../../src/devtools/cli/terminal/context.ts';
import { startProgress } from '../../../src/devtools/cli/terminal/output.ts';

/** A stream for messages, what was written to it, and a clock that is set by hand. */
function given({ isTTY = false, columns = 80, env = {} } = {}) {
  const written: string[] = [];
  const clock = { at: 1_000_000 };
  const stderr = { isTTY, columns, write: (text: string) => void written.push(text) };
  // Sound: nothing else of the context is read.
  const context = { stderr, now: () => clock.at, env } as unknown as CliContext;
  return { written, clock, progress: startProgress(context) };
}

describe('progress without a terminal', () => {
  it('is one plain line every ten seconds', () => {
    const { written, clock, progress } = given();
    for (let second = 1; second <= 35; second++) {
      clock.at += 1000;
      progress.update(`${second} of 35`);
    }
    progress.stop();
    expect(written).toEqual(['10 of 35\n', '20 of 35\n', '30 of 35\n']);
  });

  it('says nothing of what is done sooner', () => {
    const { written, clock, progress } = given();
    clock.at += 9_999;
    progress.update('done');
    progress.stop();
    expect(written).toEqual([]);
  });

  it('is the same on a terminal that knows no cursor', () => {
    const { written, clock, progress } = given({ isTTY: true, env: { TERM: 'dumb' } });
    clock.at += 10_000;
    progress.update('half');
    progress.stop();
    expect(written).toEqual(['half\n']);
    expect(progress.isTerminal).toBe(false);
  });
});

describe('progress on a terminal', () => {
  it('is one line, written over, that does not wrap, and is gone in the end', () => {
    const { written, progress } = given({ isTTY: true, columns: 10 });
    progress.update('0123456789abc');
    progress.update('short');
    progress.stop();
    expect(written).toEqual(['\r\u001b[2K012345678', '\r\u001b[2Kshort', '\r\u001b[2K']);
  });
});
