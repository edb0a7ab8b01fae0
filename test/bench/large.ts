import { createHash } from 'node:crypto';
import { verifyBody } from './built-entries.ts';
import { largeTexts } from './large-texts.ts';
import { ratio, timeInTurns } from './measure.ts';
import type { Finding } from './report.ts';
import { sampleKey } from './sample-event.ts';

const small = 256 * 1024;
const large = 1024 * 1024;
const sampling = { rounds: 25, warmup: 5, batch: 1 };

/** Verify bodies of 1 MiB, and of a quarter of it, against a hash and a parse of the same text. */
export function benchLarge(): Finding[] {
  const findings: Finding[] = [];
  const smallTexts = largeTexts(small);
  for (const [name, text] of Object.entries(largeTexts(large))) {
    const smallText = smallTexts[name] ?? '';
    const timings = timeInTurns(
      {
        large: () => verifyBody(text, { key: sampleKey }),
        'large baseline': () => hashAndParse(text),
        small: () => verifyBody(smallText, { key: sampleKey }),
        'small baseline': () => hashAndParse(smallText),
      },
      sampling,
    );
    findings.push({
      what: name,
      measured: ratio(timings.large, timings['large baseline']),
      atMost: 1.6,
    });
    // 1 for linear work, 4 for quadratic. What the hash and the parser lose on a larger text is not ours.
    findings.push({
      what: '  its growth from 256 KiB',
      measured: ratio(
        quotients(timings.large, timings['large baseline']),
        quotients(timings.small, timings['small baseline']),
      ),
      atMost: 1.5,
    });
  }
  return findings;
}

function quotients(of: readonly number[], by: readonly number[]): number[] {
  return of.map((time, round) => time / (by[round] ?? Number.NaN));
}

function hashAndParse(text: string): unknown {
  return [createHash('sha512').update(text).digest('hex'), JSON.parse(text)];
}
