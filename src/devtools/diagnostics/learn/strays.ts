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
      const isSigned = isUsable(readSample(body));
      if (isSigned) signed++;
      else unsigned++;
      // A signed one tells more.
      if (first === undefined || (isSigned && signed === 1)) first = body;
    },
    count: () => signed + unsigned,
    /** @param genuine how many deliveries the keys signed */
    findings(
      genuine: number,
      { credentials, scheme }: { credentials: readonly PartnerCredentials[]; scheme: SignatureScheme },
    ): readonly Finding[] {
      if (genuine === 0)
        return first === undefined ? [] : explainMismatch(first, { credentials, scheme }).findings;
      const total = genuine + signed + unsigned;
      const share = (count: number) => `${count} of ${total} ${count === 1 ? 'was' : 'were'}`;
      const others: Finding = {
        id: 'other-keys',
        verdict: 'weak',
        what: `${share(signed)} signed by other keys.`,
        advice:
          'If the service sent them, give the keys that signed them, too. Otherwise they are forgeries: explainMismatch says how one was made.',
      };
      const unusable: Finding = {
        id: 'unsigned',
        verdict: 'weak',
        what: `${share(unsigned)} no signed body.`,
        advice: 'Leave them out, or capture the raw bodies.',
      };
      return [...(signed > 0 ? [others] : []), ...(unsigned > 0 ? [unusable] : [])];
    },
  };
}
