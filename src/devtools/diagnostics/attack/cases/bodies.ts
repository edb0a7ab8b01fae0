import type { PostAnswer } from '../../post-request.ts';
import type { CaseTable } from '../attack-case.ts';
import { unsignedCauses } from '../causes.ts';
import { judgeRefusal, refused } from '../judge.ts';
import type { Probes } from '../probes.ts';

const parseSafely =
  'It was accepted although it is no signed object: parse the body only to verify it, and check that it is an object with a signature.';
const strictUtf8 =
  'Decode bodies as strict UTF-8 (a fatal TextDecoder) or verify the bytes: otherwise other bytes than the signed ones pass.';

/** Bodies that are not signed JSON objects, or that are hard to read. */
export const bodyCases = {
  'not-json': refused({
    what: 'bodies that are not JSON, or break off',
    causes: ['fails-on-not-json'],
    advice: parseSafely,
    deliveries: ({ authentic }) => ['not JSON', '{"event_name":', authentic().slice(0, -2)].map(asBody),
  }),
  'empty-body': refused({
    what: 'an empty body',
    causes: ['fails-on-not-json'],
    advice: parseSafely,
    deliveries: () => [{ body: '' }],
  }),
  'wrong-type': refused({
    what: 'JSON that is no object: null, numbers, true, text, arrays',
    causes: ['fails-on-not-json'],
    advice: parseSafely,
    deliveries: ({ authentic }) =>
      ['null', '0', '1', 'true', '""', '"text"', '[]', '[null]', `[${authentic()}]`].map(asBody),
  }),
  'empty-object': refused({
    what: 'an empty object',
    causes: [...unsignedCauses, 'fails-on-not-json'],
    advice: parseSafely,
    deliveries: () => [{ body: '{}' }],
  }),
  'utf-16': refused({
    what: 'an authentic delivery as UTF-16, with and without saying so',
    causes: ['lenient-decoding', 'fails-on-not-json', 'fails-on-other-encodings'],
    ifAccepted: 'weak',
    advice: strictUtf8,
    deliveries: ({ authentic }) => [
      { body: utf16(authentic()) },
      { body: utf16(authentic()), headers: { 'content-type': 'application/json; charset=utf-16le' } },
    ],
  }),
  'invalid-utf-8': refused({
    what: 'an authentic delivery with bytes that are not UTF-8 in place of a replacement character',
    causes: ['lenient-decoding', 'fails-on-not-json', 'fails-on-other-encodings'],
    ifAccepted: 'weak',
    advice: strictUtf8,
    deliveries: (probes) => [[0xff], [0xc3], [0xed, 0xa0, 0x80]].map((bytes) => lossy(probes, bytes)),
  }),
  'deep-nesting': refused({
    what: 'a forged delivery nested 25,000 levels deep',
    causes: ['fails-on-not-json'],
    advice: parseSafely,
    deliveries: (probes) => [
      { body: forgedWith(probes, `"note":${'['.repeat(25_000)}${']'.repeat(25_000)}`) },
      { body: forgedWith(probes, `"note":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`) },
    ],
  }),
  'prototype-names': refused({
    what: 'a forged delivery with members __proto__, constructor and prototype, then one without a signature',
    causes: unsignedCauses,
    advice:
      'Look members up as own members (Object.hasOwn), and never merge a parsed body into another object.',
    deliveries: (probes) => {
      const polluted = '"verified":true,"signature":"x","status":200';
      const members = `"__proto__":{${polluted}},"constructor":{"prototype":{${polluted}}}`;
      return [{ body: forgedWith(probes, members) }, { body: probes.unsigned() }];
    },
  }),
  'content-type': refused({
    what: 'forged deliveries as text/plain, as a form, and without a content type',
    expected: '401, 400 or 415',
    advice: 'Verify whatever the content type says: the signature covers the bytes.',
    deliveries: ({ forged }) =>
      ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', ''].map(
        (type) => ({ body: forged(), headers: { 'content-type': type } }),
      ),
  }),
  'too-large': {
    what: 'a forged delivery of 5 MB',
    causes: ['forged-large'],
    isSlow: true,
    expected: '413, before it is verified',
    async run({ probes, post }) {
      const small = await post({ body: forgedWith(probes, '"note":"x"') });
      const answer = await post({ body: forgedWith(probes, `"note":"${'x'.repeat(5_000_000)}"`) });
      const result = judgeRefusal(answer, { ifClosed: 'ok', advice: parseSafely });
      if (result.verdict !== 'ok' || !isSameAnswer(small, answer)) return result;
      // It was read, parsed and verified like a small one.
      return {
        ...result,
        verdict: 'weak',
        advice: limitBodies,
        fault: 'has no limit for the size of bodies',
      };
    },
  },
} satisfies CaseTable;

const limitBodies =
  'Limit the size of bodies while they are read and answer 413: 5 MB were read to the end and verified like a small body. Events have about a kilobyte.';

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
  return { body: Uint8Array.from([...bytesOf(before), ...bytes, ...bytesOf(after)]) };
}

function asBody(body: string) {
  return { body };
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** Encodes as little-endian UTF-16, with a byte order mark. */
function utf16(text: string): Uint8Array<ArrayBuffer> {
  const units = `\uFEFF${text}`;
  return Uint8Array.from({ length: units.length * 2 }, (_, index) => {
    const unit = units.charCodeAt(index >> 1);
    return index % 2 === 0 ? unit & 0xff : unit >> 8;
  });
}
