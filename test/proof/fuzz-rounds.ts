import { seeded } from '../internal/loose-json.ts';
import { checkBytes, checkText, type Finding, plainSchemes } from './check-text.ts';
import { below, makeText, mutate, pick, type Random } from './fuzz-texts.ts';

export interface FuzzResult {
  readonly passed: number;
  /** Seed, text and what went otherwise, of the first twenty. */
  readonly failures: readonly string[];
  readonly failed: number;
  /** Texts in which JSON.parse itself was wrong about a name, and which prove nothing: see {@link Finding}. */
  readonly misread: number;
  /** How many texts were to be refused with each code; `signature_mismatch` is JSON with exactly one signature. */
  readonly codes: Readonly<Record<string, number>>;
}

/** Checks as many texts as asked for: two in five as they were made, the rest mutated, a few of them as bytes. */
export function fuzz(rounds: number, seed: number): FuzzResult {
  const random = seeded(seed);
  const failures: string[] = [];
  const codes: Record<string, number> = {};
  let failed = 0;
  let misread = 0;
  for (let round = 0; round < rounds; round++) {
    const { finding, shown } = fuzzOne(random);
    codes[finding.expected] = (codes[finding.expected] ?? 0) + 1;
    misread += Number(finding.misread);
    if (finding.defect !== undefined) {
      failed++;
      if (failures.length < 20) failures.push(`seed ${seed}, round ${round}: ${finding.defect}: ${shown}`);
    }
  }
  return { passed: rounds - failed - misread, failed, misread, failures, codes };
}

function fuzzOne(random: Random): { finding: Finding; shown: string } {
  const scheme = pick(random, plainSchemes);
  const made = makeText(random, scheme.encoding);
  const text = random() < 0.4 ? made : mutate(random, made);
  const shown = `${scheme.construction} ${scheme.serialization} ${scheme.encoding}: ${JSON.stringify(text)}`;
  if (random() < 0.9) return { finding: checkText(text, scheme), shown };
  const bytes = Buffer.from(text);
  if (bytes.length > 0 && random() < 0.5) bytes[below(random, bytes.length)] = below(random, 256);
  return { finding: checkBytes(bytes, scheme), shown: `${shown} as ${bytes.toString('base64')}` };
}
