import type { PostAnswer } from '../../post-request.ts';
import type { CaseTable } from '../attack-case.ts';
import { judgeRefusal, refused } from '../judge.ts';
import type { Probes } from '../probes.ts';

const parseSafely = 'Parse the body only to verify it, and check that it is an object with a signature.';

/** Bodies that are not signed JSON objects, or that are hard to read. */
export const bodyCases = {
  'not-json': refused({
    what: 'bodies that are empty, not JSON, or break off',
    causes: ['fails-on-not-json'],
    advice: parseSafely,
    deliveries: ({ authentic }) =>
      ['', 'not JSON', '{"event_name":', authentic().slice(0, -2)].map((body) => ({ body })),
  }),
  'wrong-type': refused({
    what: 'JSON that is no object: null, numbers, true, text, arrays',
    causes: ['fails-on-not-json'],
    advice: parseSafely,
    deliveries: ({ authentic }) =>
      ['null', '0', '1', 'true', '""', '"text"', '[]', '[null]', `[${authentic()}]`].map((body) => ({
        body,
      })),
  }),
  'invalid-utf-8': refused({
    what: 'authentic deliveries with bytes that are not UTF-8 in place of a replacement character',
    causes: ['fails-on-not-json'],
    ifAccepted: 'weak',
    faults: { accepted: 'takes other bytes for the signed text: it does not decode as strict UTF-8' },
    advice:
      'Decode bodies as strict UTF-8 (a fatal TextDecoder) or verify the bytes: otherwise other bytes than the signed ones pass.',
    deliveries: (probes) => [[0xff], [0xc3], [0xed, 0xa0, 0x80]].map((bytes) => lossy(probes, bytes)),
  }),
  'deep-nesting': refused({
    what: 'forged deliveries nested 25,000 lists and 10,000 objects deep',
    causes: ['fails-on-not-json'],
    advice: parseSafely,
    deliveries: (probes) => [
      { body: forgedWith(probes, `"note":${'['.repeat(25_000)}${']'.repeat(25_000)}`) },
      { body: forgedWith(probes, `"note":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`) },
    ],
  }),
  'too-large': {
    what: 'a forged delivery of 5 MB',
    isSlow: true,
    expected: '413, before it is verified',
    advice:
      'Limit the size of bodies while they are read and answer 413: 5 MB were read to the end and verified like a small body. Events have about a kilobyte.',
    faults: { accepted: 'accepts forgeries that are larger than usual' },
    async run({ probes, post }) {
      const small = await post({ body: forgedWith(probes, '"note":"x"') });
      const answer = await post({ body: forgedWith(probes, `"note":"${'x'.repeat(5_000_000)}"`) });
      const result = judgeRefusal(answer, { ifClosed: 'ok' });
      if (result.verdict !== 'ok' || !isSameAnswer(small, answer)) return result;
      // It was read, parsed and verified like a small one.
      return { ...result, verdict: 'weak', fault: 'has no limit for the size of bodies' };
    },
  },
} satisfies CaseTable;

function isSameAnswer(first: PostAnswer, second: PostAnswer): boolean {
  return first.kind === 'answered' && second.kind === 'answered' && first.status === second.status;
}

/** Adds members that `JSON.stringify` would not write, and a wrong signature. */
function forgedWith({ unsigned, forged }: Probes, members: string): string {
  return forged(`${unsigned().slice(0, -1)},${members}}`);
}

/** A body that is signed over U+FFFD, which lenient decoders make of each of these bytes. */
function lossy({ authentic }: Probes, bytes: readonly number[]) {
  const replaced = bytes.map(() => '\uFFFD').join('');
  const [before = '', after = ''] = authentic({ note: `<${replaced}>` }).split(replaced);
  const [start, end] = [before, after].map((text) => new TextEncoder().encode(text));
  return { body: Uint8Array.from([...(start ?? []), ...bytes, ...(end ?? [])]) };
}
