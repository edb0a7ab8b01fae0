import type { PartnerCredentials } from '../../../credentials/partner-credentials.ts';
import type { SignatureScheme } from '../../../signature/signature-scheme.ts';
import { isUsable, readSample } from '../detection/samples.ts';
import type { Finding } from '../finding.ts';
import { explainMismatch } from '../mismatch/explain-mismatch.ts';

/** Counts the deliveries that none of the keys signed: anybody can post to a callback address, so they prove nothing. */
export function createStrayLog() {
  let signed = 0;
  let unsigned = 0;
  let first: string | Uint8Array | undefined;
  return {
    note(body: string | Uint8Array): void {
      if (isUsable(readSample(body))) {
        signed++;
        first ??= body;
      } else unsigned++;
    },
    count: () => signed + unsigned,
    /** @param genuine how many deliveries the keys signed */
    findings(
      genuine: number,
      { credentials, scheme }: { credentials: readonly PartnerCredentials[]; scheme: SignatureScheme },
    ): readonly Finding[] {
      const total = genuine + signed + unsigned;
      const share = (count: number) => `${count} of ${total} ${count === 1 ? 'was' : 'were'}`;
      const findings: Finding[] = [];
      if (signed > 0 && genuine > 0)
        findings.push({
          id: 'other-keys',
          verdict: 'weak',
          what: `${share(signed)} signed by other keys.`,
          advice:
            'If the service sent them, give the keys that signed them, too. Otherwise they are forgeries.',
        });
      if (unsigned > 0)
        findings.push({
          id: 'unsigned',
          verdict: 'weak',
          what: `${share(unsigned)} no signed body.`,
          advice: 'Leave them out, or capture the raw bodies.',
        });
      if (first === undefined) return findings;
      const [reason] = explainMismatch(first, { credentials, scheme }).findings;
      // Among genuine ones an unknown key is nothing to explain.
      if (reason === undefined || (genuine > 0 && reason.id === 'nothing-fits')) return findings;
      return [...findings, { ...reason, what: `The first of these: ${reason.what}` }];
    },
  };
}
