import { describe, expect, it } from 'vitest';
import { changedBodies } from '../../../../src/devtools/diagnostics/detection/near-misses.ts';
import { isUsable, readSample } from '../../../../src/devtools/diagnostics/detection/samples.ts';
import { textCandidates } from '../../../../src/devtools/diagnostics/detection/search-schemes.ts';

const forged = (member: string) => `{"a":${member},"signature":"${'a1'.repeat(64)}"}`;

/** What anybody can post. */
const bodies: Readonly<Record<string, string>> = {
  brackets: forged('['.repeat(300) + ']'.repeat(300)),
  'objects in objects': forged(`${'{"":'.repeat(300)}1${'}'.repeat(300)}`),
  'lists that go on behind a list': forged(`${'['.repeat(300)}1${',1]'.repeat(300)}`),
  'two members at each depth': forged(`${'{"b":[],"a":'.repeat(150)}1${'}'.repeat(150)}`),
  'many members deep within': forged(`${'['.repeat(100)}${'[],'.repeat(300)}1${']'.repeat(100)}`),
  'text to escape': forged(`"${'\u007f/\\"\\\\'.repeat(150)}"`),
  numbers: forged(`[${'1e9,'.repeat(300)}1]`),
};

describe('the texts that are tried for a body', () => {
  it.each(Object.entries(bodies))('have a bounded length if it has %s', (_, body) => {
    const sample = readSample(body);
    if (!isUsable(sample)) throw new Error(sample.what);
    const made = [textCandidates(sample), ...changedBodies(sample).map(({ texts }) => texts)];
    const characters = made.flatMap((texts) => [...texts.keys()]).reduce((sum, text) => sum + text.length, 0);
    expect(characters).toBeLessThan(400 * body.length);
  });
});
