import { SignatureError } from '../../src/errors/errors.ts';
import { verifyBody } from '../../src/signature/verify-body.ts';
import { seeded } from '../internal/loose-json.ts';
import { type Forger, forgers, type Target, targets } from './forgers.ts';
import { below, pick, type Random } from './fuzz-texts.ts';
import { encoded } from './scheme-vectors.ts';

export interface ForgeryResult {
  /** Forged bodies by family. */
  readonly tried: Map<string, number>;
  /** How many were refused with each code. */
  readonly refused: Map<string, number>;
  /** Those that were accepted, or ended in anything but a SignatureError. */
  readonly failures: string[];
  failed: number;
}

export function noForgeries(): ForgeryResult {
  return { tried: new Map(), refused: new Map(), failures: [], failed: 0 };
}

export function total({ tried }: ForgeryResult): number {
  return [...tried.values()].reduce((sum, count) => sum + count, 0);
}

/** Every structured forgery of every target. */
export function forgeAll(result: ForgeryResult, report: () => void = () => {}): void {
  for (const target of targets) {
    for (const forger of forgers) {
      const count = forger.count(target);
      for (let index = 0; index < count; index++) trySignature(result, target, forger, index);
    }
    for (let index = 0; index < 18; index++) tryBody(result, target, index);
    report();
  }
}

/** So many more, at random: any of the above, or a well-formed digest of random bytes. */
export function forgeSome(
  result: ForgeryResult,
  { count, seed, share }: { count: number; seed: number; share: number },
): void {
  const random = seeded(seed);
  const wanted = total(result) + count;
  // Not every index makes a forgery, so the tried ones are counted.
  for (let done = total(result); done < wanted; ) {
    const target = pick(random, targets);
    if (random() >= share) {
      done += trySignature(result, target, randomDigest(random), 0);
    } else if (random() < 0.1) {
      done += tryBody(result, target, below(random, 1_000));
    } else {
      const forger = pick(random, forgers);
      done += trySignature(result, target, forger, below(random, forger.count(target)));
    }
  }
}

/** The targets that do not verify as they are: without them a refusal proves nothing. */
export function unverified(): string[] {
  return targets.filter((target) => outcomeOf(target, target.vector.sent) !== 'accepted').map(nameOf);
}

function randomDigest(random: Random): Forger {
  const bytes = Buffer.from(Array.from({ length: 64 }, () => below(random, 256)));
  return {
    name: 'random bytes',
    count: () => 1,
    make: ({ vector }) => `"${encoded(bytes, vector.scheme.encoding)}"`,
  };
}

function trySignature(result: ForgeryResult, target: Target, forger: Forger, index: number): number {
  const json = forger.make(target, index);
  // What means the right text is right.
  if (json === `"${target.right}"` || JSON.parse(json) === target.right) return 0;
  const { vector, right } = target;
  return record(result, target, {
    family: forger.name,
    body: vector.sent.replace(`"${right}"`, () => json),
  });
}

/** A member added under the right signature: a number, since nothing is joined for null, and an empty text is nothing. */
function tryBody(result: ForgeryResult, target: Target, index: number): number {
  const { vector, right } = target;
  return record(result, target, {
    family: 'a member added under the right signature',
    body: vector.sent.replace(`"${right}"`, () => `"${right}","added_${index}":${index * 7919}`),
  });
}

function record(
  result: ForgeryResult,
  target: Target,
  { family, body }: { family: string; body: string | Uint8Array },
): number {
  count(result.tried, family);
  const outcome = outcomeOf(target, body);
  count(result.refused, outcome);
  if (!outcome.startsWith('signature_') && !outcome.startsWith('body_')) {
    result.failed++;
    if (result.failures.length < 20) {
      result.failures.push(`${outcome}: ${family}: ${nameOf(target)}: ${Buffer.from(body).toString()}`);
    }
  }
  return 1;
}

function outcomeOf({ vector: { key, scheme } }: Target, body: string | Uint8Array): string {
  try {
    verifyBody(body, { key, scheme });
    return 'accepted';
  } catch (error) {
    return error instanceof SignatureError ? error.code : `thrown ${String(error)}`;
  }
}

function nameOf({ vector }: Target): string {
  return vector.name;
}

function count(counts: Map<string, number>, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}
