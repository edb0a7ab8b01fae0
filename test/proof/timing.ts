/*
 * Does the time of a verification tell at which byte of the digest a forged signature goes wrong?
 *
 *     node test/proof/timing.ts [--seconds 50]
 *
 * Two classes of bodies, in random turns: the first byte of the digest wrong, and the last. All lie in the same bytes,
 * rewritten before each call, so that nothing differs but the signature. A verification with a comparison that ends at
 * the first wrong byte is measured in the same way and has to be found out; otherwise the proof proves nothing.
 */
import { createHash, createHmac } from 'node:crypto';
import { SignatureError } from '../../src/errors/errors.ts';
import { isSignedWith } from '../../src/signature/digest.ts';
import { canonicalText } from '../../src/signature/serializations.ts';
import { defaultScheme, type SignatureScheme } from '../../src/signature/signature-scheme.ts';
import { decodeBody, parseSignedBody } from '../../src/signature/signed-body.ts';
import { verifyBody } from '../../src/signature/verify-body.ts';
import { sampleKey, sampleText } from '../bench/sample-event.ts';
import { seeded } from '../internal/loose-json.ts';
import { searchSize } from '../support/search-size.ts';
import { flipped } from './scheme-vectors.ts';
import { type Comparison, compare, type Samples } from './timing-comparison.ts';

/** Above this, dudect says that a leak is likely; by chance, seven in a million. */
const threshold = 4.5;
/** A disturbance passes, a leak stays: it has to show in every attempt. */
const attempts = 3;
const size = searchSize({ rounds: 1 });
const random = seeded(size.seed);
// Every call throws, and a stack would take longer than the verification.
Error.stackTraceLimit = 0;

const { signature: _, ...event } = JSON.parse(sampleText);
const unsigned = JSON.stringify(event);

interface Subject {
  readonly name: string;
  /** Reads the forged signature out of the bytes, and refuses it. */
  readonly refuse: (body: Uint8Array) => void;
  /** The right digest of the body. */
  readonly digest: Buffer;
  readonly leaks: boolean;
}

const hashSuffix: SignatureScheme = Object.freeze({ ...defaultScheme, construction: 'hash-suffix' });
const sorted: SignatureScheme = Object.freeze({ ...defaultScheme, serialization: 'sorted' });
const hmacOf = (text: string) => createHmac('sha512', sampleKey).update(text).digest();
const right = hmacOf(unsigned);
const sortedNames = Object.keys(event).sort();

const subjects: readonly Subject[] = [
  subject('verifyBody, hmac as-sent', defaultScheme, right),
  subject(
    'verifyBody, hash-suffix as-sent',
    hashSuffix,
    createHash('sha512')
      .update(unsigned + sampleKey)
      .digest(),
  ),
  subject('verifyBody, hmac sorted', sorted, hmacOf(sortedText())),
  { name: 'the comparison alone', refuse: refuseByComparison(), digest: right, leaks: false },
  { name: 'control: ends at the first wrong byte', refuse: refuseNaively, digest: right, leaks: true },
];

/** Of one measurement: what disturbed it is measured again. */
const measureMs = (size.ms ?? 50_000) / subjects.length;

console.log(
  `Seed ${size.seed}. Welch's t of the time with the first or the last digest byte wrong; a leak from |t| = ${threshold} on:`,
);
let failed = 0;
for (const one of subjects) failed += Number(!isAsItShouldBe(one));
console.log(`${subjects.length - failed} passed, ${failed} failed`);
if (failed > 0) process.exitCode = 1;

function isAsItShouldBe(subject: Subject): boolean {
  for (let attempt = 1; ; attempt++) {
    const samples = measure(subject, measureMs);
    const comparison = compare(samples);
    const found = Math.abs(comparison.t) >= threshold;
    print(subject, comparison, { count: samples.first.length + samples.last.length, found });
    // A control that is not found out, or a leak where none should be, has a further chance.
    if (found === subject.leaks) return true;
    if (attempt === attempts) return false;
  }
}

function measure({ refuse, digest }: Subject, milliseconds: number): Samples {
  const body = Buffer.from(`${unsigned.slice(0, -1)},"signature":"${'0'.repeat(128)}"}`);
  const place = body.length - 130;
  const samples: { first: number[]; last: number[] } = { first: [], last: [] };
  let until = Number.POSITIVE_INFINITY;
  for (let round = -20_000; performance.now() < until; round++) {
    if (round === 0) until = performance.now() + milliseconds;
    const isFirst = random() < 0.5;
    // Any bit of the byte, so that no single value of it counts.
    const bit = (isFirst ? 0 : 63 * 8) + Math.floor(random() * 8);
    body.write(flipped(digest, bit).toString('hex'), place, 'latin1');
    const time = timeOf(refuse, body);
    if (round >= 0) (isFirst ? samples.first : samples.last).push(time);
  }
  return samples;
}

function timeOf(refuse: (body: Uint8Array) => void, body: Uint8Array): number {
  const start = process.hrtime.bigint();
  try {
    refuse(body);
  } catch (error) {
    const end = process.hrtime.bigint();
    if (!(error instanceof SignatureError) || error.code !== 'signature_mismatch') throw error;
    return Number(end - start);
  }
  throw new Error('A forged signature was accepted.');
}

function subject(name: string, scheme: SignatureScheme, digest: Buffer): Subject {
  verifyBody(`${unsigned.slice(0, -1)},"signature":"${digest.toString('hex')}"}`, { key: sampleKey, scheme });
  return { name, digest, leaks: false, refuse: (body) => void verifyBody(body, { key: sampleKey, scheme }) };
}

/** Without what comes before it, which makes the time uneven: the most sensitive. */
function refuseByComparison(): (body: Uint8Array) => void {
  const claimedDigest = Buffer.alloc(64);
  return (body) => {
    claimedDigest.write(
      Buffer.from(body.buffer, body.byteOffset + body.length - 130, 128).toString('latin1'),
      'hex',
    );
    if (!isSignedWith(defaultScheme, sampleKey, { text: unsigned, claimedDigest })) throw mismatch();
  };
}

/** As verifyBody does it, but for the comparison. */
function refuseNaively(body: Uint8Array): void {
  const { value, json, claimedDigest } = parseSignedBody(decodeBody(body), 'hex');
  const expected = hmacOf(canonicalText(defaultScheme, { json, value }));
  for (let index = 0; index < 64; index++) if (expected[index] !== claimedDigest[index]) throw mismatch();
}

function mismatch(): SignatureError {
  return new SignatureError('signature_mismatch', 'Not signed with this key.');
}

function sortedText(): string {
  const sort = (value: unknown): unknown =>
    typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value;
  return JSON.stringify(Object.fromEntries(sortedNames.map((name) => [name, sort(event[name])])));
}

function print(
  { name }: Subject,
  { t, cropped, difference, margin }: Comparison,
  { count, found }: { count: number; found: boolean },
): void {
  const statistic = `t = ${t.toFixed(2)} (fastest ${(cropped * 100).toFixed(0)} %)`;
  const nanoseconds = `${difference.toFixed(1)} ± ${margin.toFixed(1)} ns`;
  console.log(
    `  ${name.padEnd(40)} ${statistic.padStart(26)} ${nanoseconds.padStart(18)}  ${String(count).padStart(9)} calls  ${found ? 'LEAK' : 'none'}`,
  );
}
